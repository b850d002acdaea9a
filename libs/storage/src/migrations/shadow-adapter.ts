import { randomUUID } from "node:crypto";
import { PrismaPg } from "@prisma/adapter-pg";
import {
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlMigrationAwareDriverAdapterFactory,
  type SqlResultSet,
} from "@prisma/driver-adapter-utils";
import pg from "pg";
import { databaseOf } from "./connect-when-there.ts";

/** Connections for Prisma's schema engine. `close` ends them and drops the remaining shadow databases. */
export interface ShadowAdapter extends SqlMigrationAwareDriverAdapterFactory {
  close(): Promise<void>;
}

/**
 * Prisma's pg adapter for its schema engine, with corrections of 7.10 for that use. Its shadow database is never the
 * database of the URL (with Prisma's own it would be: a connection string beats a database name) and is dropped at the
 * end; a script runs as one text (Prisma's own splits at every `;`, also inside a function); the type `"char"` of the
 * catalogues is read.
 */
export function shadowAdapter(url: string): ShadowAdapter {
  const opened: SqlDriverAdapter[] = [];
  const open = async (database?: string, disposed?: () => Promise<void>) => {
    const adapter = await openAdapter(url, database, disposed);
    opened.push(adapter);
    return adapter;
  };
  return {
    provider: "postgres",
    adapterName: "@prisma/adapter-pg",
    connect: () => open(),
    async connectToShadowDb() {
      const database = `${databaseOf(url).slice(0, 40)}_shadow_${randomUUID().slice(0, 8)}`;
      await inMaintenance(url, `create database ${pg.escapeIdentifier(database)} template template0`);
      return open(database, () =>
        inMaintenance(url, `drop database if exists ${pg.escapeIdentifier(database)} with (force)`),
      );
    },
    close: async () => void (await Promise.all(opened.map((adapter) => adapter.dispose()))),
  };
}

async function openAdapter(url: string, database?: string, disposed?: () => Promise<void>): Promise<SqlDriverAdapter> {
  const target = new URL(url);
  if (database) target.pathname = `/${database}`;
  // As at the start of a service: otherwise a role would find the schema of its own name before public once a migration
  // has created one.
  const pool = new CataloguePool({ connectionString: target.href, options: "-c search_path=public", max: 2 });
  pool.on("error", () => {}); // a lost connection shows in the pending statement
  const adapter: SqlDriverAdapter = await new PrismaPg(pool).connect();
  const queryRaw = adapter.queryRaw.bind(adapter);
  return Object.assign(adapter, {
    queryRaw: async (query: Parameters<typeof queryRaw>[0]) => withCharacters(await queryRaw(query)),
    executeScript: async (script: string) => void (await pool.query(script)),
    dispose: async () => {
      if (pool.ending) return;
      await pool.end();
      await disposed?.();
    },
  });
}

async function inMaintenance(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

/** Ends the name of a column of the type `"char"` between pool and adapter; a real name cannot contain a NUL. */
const characterMark = "\0char";

/** Gives columns of the internal type `"char"` a type that the adapter passes on, and marks them. */
class CataloguePool extends pg.Pool {
  // biome-ignore lint/suspicious/noExplicitAny: pg declares this method with eight overloads; the promise forms are the ones in use
  override async query(...given: any[]): Promise<any> {
    const result = await (super.query as (...parameters: unknown[]) => Promise<pg.QueryResult>).apply(this, given);
    for (const field of result.fields ?? []) {
      if (field.dataTypeID !== pg.types.builtins.CHAR) continue;
      field.dataTypeID = pg.types.builtins.TEXT;
      field.name += characterMark;
    }
    return result;
  }
}

/** Marks the one-character columns for the engine, which accepts nothing else there. */
function withCharacters(result: SqlResultSet): SqlResultSet {
  const isCharacter = result.columnNames.map((name) => name.endsWith(characterMark));
  return {
    ...result,
    columnNames: result.columnNames.map((name) => name.replace(characterMark, "")),
    columnTypes: result.columnTypes.map((type, column) => (isCharacter[column] ? ColumnTypeEnum.Character : type)),
  };
}
