import { fileURLToPath } from "node:url";
import { type Clock, seconds } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import { dayMs } from "../database/days.ts";
import type { Pool } from "../database/pool.ts";
import { startRetention } from "../database/retention.ts";
import type { LibraryMigrations } from "../migrations/migrate.ts";
import { type Statistics, statisticsMs } from "./statistics.ts";

/** The tables of statistics, in the schema `signalbox`, for `migrate({ libraryMigrations })`. */
export const storageMigrations: LibraryMigrations = {
  library: "storage",
  directory: fileURLToPath(new URL("../../migrations", import.meta.url)),
};

interface Context {
  readonly runner: Runner;
  readonly pool: Pool;
  readonly clock: Clock;
}

/** Whole days of the oldest range, and the day of a request that took its time. */
const keptMs = statisticsMs + 2 * dayMs;
/** Interval between saves of the counts in memory, which a killed instance loses since the last one. */
const saveEveryMs = seconds(5);

/** Starts what keeps statistics: folds, rolls up and trims them, and saves what is counted in memory, if anything is. */
export function keepStatistics(
  { runner, pool, clock }: Context,
  { step, save }: Pick<Statistics, "step"> & { readonly save?: () => Promise<void> },
): void {
  if (save !== undefined) {
    runner.defer("counts", save);
    runner.every("counts", saveEveryMs, save);
  }
  runner.every("statistics", seconds(2), step);
  const rule = { name: "trim statistics", table: "signalbox.statistics", column: "at" } as const;
  startRetention({ runner, pool, clock }, [{ ...rule, unordered: true, keepMs: keptMs }]);
}
