import { eventsMigrations } from "@signalbox/events";
import { httpMigrations } from "@signalbox/http";
import type { ServiceContext } from "@signalbox/runtime";
import {
  databaseOptions,
  type LibraryMigrations,
  migrate,
  openPool,
  type Pool,
  unsafeSettings,
} from "@signalbox/storage";
import type { databaseProperties } from "@signalbox/storage/properties";
import { followDatabaseClock } from "./clock/clock-sync.ts";
import { statisticsMigrations } from "./statistics/keep-statistics.ts";

/** The library tables of every service with a database. */
export const libraryMigrations: readonly LibraryMigrations[] = [statisticsMigrations, eventsMigrations, httpMigrations];

type Context = ServiceContext<typeof databaseProperties>;

/**
 * Migrates the service's database to this version and opens its pool. The service counts as started after the
 * migrations, and as ready while the database answers.
 */
export async function openDatabase(context: Context, prismaDirectory: string): Promise<Pool> {
  const { configuration, service, log, metrics, runner, health } = context;
  const url = configuration.get("database.url");
  const migrated = health.startup("migrations");
  await migrate({
    url,
    service,
    prismaDirectory,
    libraryMigrations,
    log,
    waitMs: configuration.get("database.start-wait"),
    apply: configuration.get("database.migrate"),
  });
  migrated.done();
  const pool = openPool({
    ...databaseOptions(configuration),
    applicationName: `signalbox-${service}`,
    log,
    metrics,
    runner,
  });
  health.ready("database", () => pool.health());
  followDatabaseClock({ pool, runner, metrics, log });
  for (const sentence of await unsafeSettings(pool).catch(() => [])) log.warn(sentence); // no reason to fail the start
  return pool;
}
