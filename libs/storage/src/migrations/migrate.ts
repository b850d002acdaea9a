import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@signalbox/runtime";
import type pg from "pg";
import { applyMigration } from "./apply-migration.ts";
import { connectWhenThere, databaseOf } from "./connect-when-there.ts";
import { type MigrationFile, readLibraryFolder, readPrismaFolder } from "./migration-file.ts";
import {
  libraryHistory,
  MigrationError,
  type MigrationHistory,
  pendingMigrations,
  prismaHistory,
} from "./migration-history.ts";
import { knownExpansions, prepareKinds } from "./migration-kind.ts";
import { takeMigrationLock } from "./migration-lock.ts";

/** The SQL files of a library, applied to the schema `signalbox` of every database that uses it. */
export interface LibraryMigrations {
  readonly library: string;
  /** Folder with `<number>_<slug>.sql` files, applied in the order of their names. */
  readonly directory: string;
}

export interface MigrateOptions {
  /** Address of the service's own database, which is created if it is missing. */
  readonly url: string;
  readonly service: string;
  /** Folder with `schema.prisma` and `migrations/`; null for a database without one. */
  readonly prismaDirectory: string | null;
  readonly libraryMigrations: readonly LibraryMigrations[];
  readonly log: Logger;
  /** Time to wait for a missing engine, and then for the migration of another process. Default 60 s. */
  readonly waitMs?: number;
  /** False applies nothing and waits until another process has done it. Default true. */
  readonly apply?: boolean;
}

/**
 * Migrates the database of a service to this version: libraries first, then the Prisma migrations. Safe with several
 * instances at once: one works under a lock, the others find the work done. Each file is applied and recorded in one
 * transaction, so a crash leaves nothing half done. A newer version may have expanded the database. Throws
 * `MigrationError` for an unreachable engine, a lock that is not released, a database that a newer version has
 * contracted or that is older than the first migration, a file that was changed after it was applied, and SQL that fails.
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  const histories = await readHistories(options);
  const waitMs = options.waitMs ?? 60_000;
  const client = await connectWhenThere({ url: options.url, log: options.log, waitMs });
  try {
    const database = databaseOf(options.url);
    if (await isCurrent(client, histories, database)) return;
    if (options.apply === false) return await untilCurrent(client, histories, { database, log: options.log, waitMs });
    await takeMigrationLock({ client, database, log: options.log, waitMs });
    await prepareKinds(client);
    for (const history of histories) await bringUp(client, history, database, { log: options.log, waitMs });
  } finally {
    await client.end();
  }
}

const pauseMs = 500;

/** Waits for the job that migrates. */
async function untilCurrent(
  client: pg.Client,
  histories: readonly MigrationHistory[],
  { database, log, waitMs }: { readonly database: string; readonly log: Logger; readonly waitMs: number },
): Promise<void> {
  log.warn({ database }, "waiting for the migration of the database by the job `migrate`");
  for (let pause = 0; pause < waitMs / pauseMs; pause++) {
    await sleep(pauseMs);
    if (await isCurrent(client, histories, database)) return;
  }
  throw new MigrationError(
    `database ${database} was not migrated within ${waitMs / 1000} s: run the job \`migrate\` of this version, or set ` +
      "database.migrate to true",
  );
}

async function readHistories(options: MigrateOptions): Promise<MigrationHistory[]> {
  const libraries = options.libraryMigrations.map(async ({ library, directory }) =>
    libraryHistory(library, await readLibraryFolder(directory)),
  );
  const histories = await Promise.all(libraries);
  if (options.prismaDirectory === null) return histories;
  return [...histories, prismaHistory(options.service, await readPrismaFolder(options.prismaDirectory))];
}

/**
 * Returns true when every migration is applied, the usual case, which needs no lock. Reads every history, so that a
 * database which one of them refuses stays as it is.
 */
async function isCurrent(
  client: pg.Client,
  histories: readonly MigrationHistory[],
  database: string,
): Promise<boolean> {
  let lacking = 0;
  for (const history of histories) lacking += (await pending(client, history, database)).length;
  return lacking === 0;
}

async function bringUp(
  client: pg.Client,
  history: MigrationHistory,
  database: string,
  { log, waitMs }: { readonly log: Logger; readonly waitMs: number },
): Promise<void> {
  await history.prepare(client);
  for (const file of await pending(client, history, database)) {
    await applyMigration({ client, history, log, waitMs }, file);
    log.info({ database, migration: file.name, owner: history.owner }, "applied a migration");
  }
}

async function pending(client: pg.Client, history: MigrationHistory, database: string): Promise<MigrationFile[]> {
  return pendingMigrations(history, {
    database,
    applied: await history.applied(client),
    expansions: await knownExpansions(client, history.owner),
  });
}
