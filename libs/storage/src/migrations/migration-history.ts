import type pg from "pg";
import type { MigrationFile } from "./migration-file.ts";

export interface AppliedMigration {
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
      `database ${database} was made by a version before ${oldestVersion}, which nothing upgrades: start with an empty ` +
        "database, or with the version that made this one.",
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
        `database ${database} was contracted by a newer version of ${owner}: it has ${name}, which is unknown here. ` +
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
