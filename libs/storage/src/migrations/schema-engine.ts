import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { PrismaPg } from "@prisma/adapter-pg";
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlMigrationAwareDriverAdapterFactory,
  type SqlResultSet,
} from "@prisma/driver-adapter-utils";
import type { SchemaEngine } from "@prisma/schema-engine-wasm";
import pg from "pg";
import { databaseOf } from "./connect-when-there.ts";

/** Part of Node, but declared only in the browser types, which are not loaded. */
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: Record<string, object>): Promise<{ instance: { exports: object } }>;
};

type Bindings = typeof import("@prisma/schema-engine-wasm/schema_engine_bg");

let loading: Promise<Bindings> | undefined;

/**
 * Runs `work` with Prisma's schema engine as WebAssembly, for authoring and checking migrations; a start does not need
 * it. `url` is any database of a PostgreSQL engine: to compare migrations, the schema engine builds them in a shadow
 * database.
 */
export async function withSchemaEngine<T>(
  url: string,
  schema: { path: string; content: string },
  work: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  loading ??= load();
  const { SchemaEngine: Engine } = await loading;
  const adapter = shadowAdapter(url);
  try {
    const bound = bindMigrationAwareSqlAdapterFactory(adapter);
    const engine = await Engine.new({ datamodels: [[schema.path, schema.content]] }, () => {}, bound);
    return await work(engine).finally(() => engine.free());
  } finally {
    await adapter.close();
  }
}

/** Node does not load WebAssembly by `import`, as the package's own entry point expects of a bundler. */
async function load(): Promise<Bindings> {
  const bindings = (await import("@prisma/schema-engine-wasm/schema_engine_bg")) as Bindings;
  const file = createRequire(import.meta.url)
    .resolve("@prisma/schema-engine-wasm/schema_engine_bg")
    .replace(/\.js$/, ".wasm");
  const { instance } = await WebAssembly.instantiate(await readFile(file), {
    "./schema_engine_bg.js": bindings,
  });
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports as { __wbindgen_start(): void }).__wbindgen_start();
  return bindings;
}

/** Connections for Prisma's schema engine. `close` ends them and drops the remaining shadow databases. */
interface ShadowAdapter extends SqlMigrationAwareDriverAdapterFactory {
  close(): Promise<void>;
}

/**
 * Prisma's pg adapter for its schema engine, with corrections of 7.10 for that use. Its shadow database is never the
 * database of the URL (with Prisma's own it would be: a connection string beats a database name) and is dropped at the
 * end; a script runs as one text (Prisma's own splits at every `;`, also inside a function); the type `"char"` of the
 * catalogues is read.
 */
function shadowAdapter(url: string): ShadowAdapter {
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
