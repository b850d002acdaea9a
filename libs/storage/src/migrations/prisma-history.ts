import { randomUUID } from "node:crypto";
import type { MigrationFile } from "./migration-file.ts";
import { type AppliedMigration, MigrationError, type MigrationHistory } from "./migration-history.ts";

/** Equal, column for column, to the table of `prisma migrate deploy`, so that either may continue the other's work. */
const createTable = `create table if not exists public._prisma_migrations (
  id varchar(36) primary key not null, checksum varchar(64) not null, finished_at timestamptz,
  migration_name varchar(255) not null, logs text, rolled_back_at timestamptz,
  started_at timestamptz not null default now(), applied_steps_count integer not null default 0)`;

/** The migrations of a service's Prisma schema, recorded as Prisma does. */
export function prismaHistory(service: string, files: readonly MigrationFile[]): MigrationHistory {
  return {
    owner: `service ${service}`,
    files,
    async applied(client) {
      const found = await client.query("select to_regclass('public._prisma_migrations') is not null as there");
      if (!found.rows[0].there) return [];
      const { rows } = await client.query(
        `select migration_name as name, checksum, finished_at is not null as finished
         from public._prisma_migrations where rolled_back_at is null`,
      );
      const unfinished = rows.find(({ finished }) => !finished);
      // Ours are recorded in the transaction that applies them; only Prisma's own tools leave a half-done one.
      if (unfinished) throw new MigrationError(unfinishedMessage(service, unfinished.name));
      return rows as AppliedMigration[];
    },
    async prepare(client) {
      await client.query(createTable);
    },
    async record(client, { name, checksum }) {
      await client.query(
        `insert into public._prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
         values ($1, $2, $3, now(), clock_timestamp(), 1)`,
        [randomUUID(), checksum, name],
      );
    },
  };
}

const unfinishedMessage = (service: string, name: string): string =>
  `migration ${name} of service ${service} was started by another tool and did not finish. Look at its logs column in ` +
  "_prisma_migrations, repair the database, then mark it with `prisma migrate resolve`.";
