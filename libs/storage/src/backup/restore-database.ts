import type { Readable } from "node:stream";
import type pg from "pg";
import { connectForBackup, copyIn } from "./copy-rows.ts";
import { type DatabaseDescription, describeDatabase, type TableDescription } from "./describe-database.ts";

/** A table of a backup, with its number of rows. */
export interface BackedUpTable extends TableDescription {
  readonly rows: number;
}

/** A database that is being restored. Nothing is visible before `commit`. */
export interface DatabaseRestore {
  /** Names the tables that have rows. */
  filled(): Promise<string[]>;
  /** Describes what the migrations of this version have created. */
  describe(): Promise<DatabaseDescription>;
  load(
    backup: DatabaseDescription & { readonly tables: readonly BackedUpTable[] },
    open: (table: BackedUpTable) => Promise<Readable>,
  ): Promise<void>;
  commit(): Promise<void>;
  /** Without a commit the database stays as it was. */
  close(): Promise<void>;
}

/** Opens a migrated database for the rows of a backup. */
export async function openDatabaseRestore(url: string): Promise<DatabaseRestore> {
  const client = await connectForBackup(url);
  await client.query("begin");
  return {
    async filled() {
      const found: string[] = [];
      for (const { name } of (await describeDatabase(client)).tables) {
        if ((await client.query(`select 1 from ${name} limit 1`)).rows.length > 0) found.push(name);
      }
      return found;
    },
    describe: () => describeDatabase(client),
    async load(backup, open) {
      await makePartitions(client, backup);
      // Migrations also write a few rows, which the backup holds in their latest form.
      await client.query(`truncate ${backup.tables.map(({ name }) => name).join(", ")}`);
      for (const table of backup.tables) {
        const statement = `copy ${table.name} (${table.columns.join(", ")}) from stdin`;
        const rows = await copyIn(client, statement, await open(table));
        if (rows !== table.rows) throw new Error(`${table.name} has ${rows} rows instead of ${table.rows}`);
      }
      for (const { name, last } of backup.sequences) {
        if (last !== null) await client.query("select setval($1, $2)", [name, last]);
      }
    },
    async commit() {
      await client.query("commit");
      // Without statistics the first plans would be those for empty tables.
      await client.query("analyze");
    },
    close: () => client.end(),
  };
}

/** Creates the tables of the backup's days, which otherwise a worker creates. */
async function makePartitions(client: pg.Client, { partitions }: DatabaseDescription): Promise<void> {
  for (const { name, parent, bound, options } of partitions) {
    const storage = options.length > 0 ? ` with (${options.join(", ")})` : "";
    await client.query(`create table if not exists ${name} partition of ${parent} ${bound}${storage}`);
  }
}
