import { randomUUID } from "node:crypto";
import type pg from "pg";
import type { MigrationFile } from "./migration-file.ts";

interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
}

/** An ordered set of migrations, and its record in a database. */
export interface MigrationHistory {
  /** Owner of the migrations, for messages: `library events`, `service account`. */
  readonly owner: string;
  readonly files: readonly MigrationFile[];
  /** The migrations that the database has, in any order. Also called before `prepare`. */
  applied(client: pg.Client): Promise<AppliedMigration[]>;
  /** Creates the table of the record, if it is missing. */
  prepare(client: pg.Client): Promise<void>;
  /** Records a migration inside the transaction that applies it. */
  record(client: pg.Client, file: MigrationFile): Promise<void>;
}

/** Stops the start; the message says what to do. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

/** The oldest version whose databases a start takes: the migrations before it were made into one. */
export const oldestVersion = "0.2.0";

/** The database was made by a version from before `oldestVersion`. */
export class DatabaseTooOldError extends MigrationError {
  readonly database: string;

  constructor(database: string) {
    super(
      `database ${database} was made by a version before ${oldestVersion}, which cannot be upgraded: start with an empty ` +
        "database, or with the version that created this one.",
    );
    this.database = database;
  }
}

/** A database's record of the migrations of one owner. */
interface DatabaseState {
  readonly database: string;
  readonly applied: readonly AppliedMigration[];
  /** Names of migrations that only add, so that a version that does not know them can run beside them. */
  readonly expansions: ReadonlySet<string>;
}

/**
 * Returns the files that the database lacks. Expansions by a newer version are accepted. Throws when the database has
 * an unknown contraction or a migration from before our first one, or when an applied file was changed: applied files
 * never change.
 */
export function pendingMigrations(
  { owner, files }: Pick<MigrationHistory, "owner" | "files">,
  { database, applied, expansions }: DatabaseState,
): MigrationFile[] {
  const known = new Map(files.map((file) => [file.name, file]));
  const first = files[0]?.name ?? "";
  for (const { name, checksum } of applied) {
    const file = known.get(name);
    if (!file && name < first) throw new DatabaseTooOldError(database);
    if (!file && !expansions.has(name)) {
      throw new MigrationError(
        `database ${database} was migrated by a newer version of ${owner}, which removed what this version needs: it has ${name}, which is unknown here. ` +
          "Start that version or a later one, or restore the backup that was made before it.",
      );
    }
    if (file && file.checksum !== checksum) {
      throw new MigrationError(
        `migration ${name} of ${owner} was changed after database ${database} had applied it. ` +
          "Restore the file and put the change into a new migration.",
      );
    }
  }
  const names = new Set(applied.map(({ name }) => name));
  return files.filter((file) => !names.has(file.name));
}

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
