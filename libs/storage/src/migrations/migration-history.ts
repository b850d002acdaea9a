import type pg from "pg";
import type { MigrationFile } from "./migration-file.ts";

export interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
}

/** A row of migrations that belong together and where a database records which of them it has. */
export interface MigrationHistory {
  /** Who the migrations belong to, for messages: `library events`, `service account`. */
  readonly owner: string;
  readonly files: readonly MigrationFile[];
  /** What the database has, in any order. Also right before `prepare`. */
  applied(client: pg.Client): Promise<AppliedMigration[]>;
  /** Creates the table that records them, if it is absent. */
  prepare(client: pg.Client): Promise<void>;
  /** Records a migration inside the transaction that applies it. */
  record(client: pg.Client, file: MigrationFile): Promise<void>;
}

/** The start stops here; the message says what to do. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

/** What a database says of the migrations of one owner. */
interface DatabaseState {
  readonly database: string;
  readonly applied: readonly AppliedMigration[];
  /** The names of those that only add, so that a version that does not know them can run beside them. */
  readonly expansions: ReadonlySet<string>;
}

/**
 * The files that the database still lacks. What a newer version has expanded is accepted. Throws when the database has a
 * contraction that we do not know, or a file that reads differently today: applied files are history and never change.
 */
export function pendingMigrations(
  { owner, files }: Pick<MigrationHistory, "owner" | "files">,
  { database, applied, expansions }: DatabaseState,
): MigrationFile[] {
  const known = new Map(files.map((file) => [file.name, file]));
  for (const { name, checksum } of applied) {
    const file = known.get(name);
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
