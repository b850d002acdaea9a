import { join } from "node:path";
import { startPostgres } from "@signalbox/infra/engines/index.ts";
import { openPool, sql } from "@signalbox/storage";
import { createLogger, createMetrics } from "@signalbox/telemetry";

/** Applies a migration of a newer version, which this one does not know and which declares no kind. */
export async function migrateByTheFuture(dataDirectory: string, database: string): Promise<void> {
  const postgres = await startPostgres({ folder: join(dataDirectory, "postgres"), durable: true });
  const pool = openPool({
    url: postgres.url(database),
    max: 1,
    applicationName: "the future",
    log: createLogger({ service: "test-e2e", instance: "future", level: "error" }),
    metrics: createMetrics({ service: "test-e2e" }),
    runner: { defer: () => {} },
  });
  await pool.query(
    sql(
      "",
      `insert into _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
       values ('future', 'future', '29990101000000_future', now(), 1)`,
    ),
  );
  await pool.close();
  await postgres.stop();
}
