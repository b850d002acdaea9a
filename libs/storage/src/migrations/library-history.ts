import type { MigrationFile } from "./migration-file.ts";
import type { AppliedMigration, MigrationHistory } from "./migration-history.ts";

const table = "signalbox.library_migrations";

/** The migrations of one library, recorded in the schema of the libraries' tables. */
export function libraryHistory(library: string, files: readonly MigrationFile[]): MigrationHistory {
  return {
    owner: `library ${library}`,
    files,
    async applied(client) {
      const found = await client.query("select to_regclass($1) is not null as there", [table]);
      if (!found.rows[0].there) return [];
      const { rows } = await client.query(`select name, checksum from ${table} where library = $1`, [library]);
      return rows as AppliedMigration[];
    },
    async prepare(client) {
      await client.query("create schema if not exists signalbox");
      await client.query(
        `create table if not exists ${table} (
           library text not null, name text not null, checksum text not null,
           applied_at timestamptz not null default now(), primary key (library, name))`,
      );
    },
    async record(client, { name, checksum }) {
      await client.query(`insert into ${table} (library, name, checksum) values ($1, $2, $3)`, [
        library,
        name,
        checksum,
      ]);
    },
  };
}
