import { join } from "node:path";
import { startPostgres } from "@signalbox/infra/engines/index.ts";
import { createLogger, createMetrics } from "@signalbox/runtime";
import { openPool, sql } from "@signalbox/storage";

/** Runs a statement in a database of a data folder whose system is stopped. */
export async function runStatement(dataDirectory: string, database: string, statement: string): Promise<void> {
  const postgres = await startPostgres({ folder: join(dataDirectory, "postgres"), durable: true });
  const pool = openPool({
    url: postgres.url(database),
    max: 1,
    applicationName: "another version",
    log: createLogger({ service: "test-e2e", instance: "another", level: "error" }),
    metrics: createMetrics({ service: "test-e2e" }),
    runner: { defer: () => {} },
  });
  await pool.query(sql("", statement));
  await pool.close();
  await postgres.stop();
}
