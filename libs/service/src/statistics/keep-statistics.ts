import { fileURLToPath } from "node:url";
import { type Clock, seconds } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import { dayMs, type LibraryMigrations, type Pool, type Statement, sql, startRetention } from "@signalbox/storage";
import { type FreshEntry, freshBatch } from "./fresh-figures.ts";
import { createStatistics, type Statistics, statisticsMs } from "./statistics.ts";

/** The tables of statistics, in the schema `signalbox`, for `migrate({ libraryMigrations })`. */
export const statisticsMigrations: LibraryMigrations = {
  library: "storage", // the name that databases record them under
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
  { step, save }: { readonly step: Statistics["step"]; readonly save?: () => Promise<void> },
): void {
  if (save !== undefined) {
    runner.defer("counts", save);
    runner.every("counts", saveEveryMs, save);
  }
  runner.every("statistics", seconds(2), step);
  const rule = { name: "trim statistics", table: "signalbox.statistics", column: "at" } as const;
  startRetention({ runner, pool, clock }, [{ ...rule, unordered: true, keepMs: keptMs }]);
}

/**
 * Combinations that wait to be saved. Beyond it further ones are not counted: it takes an outage of the database and
 * many subjects.
 */
const unsavedMax = 10_000;

const insert = sql("statistics.insert-fresh", "insert into signalbox.fresh_statistics (batch) values ($1)");

/**
 * Statistics of what has no statement of its own to be counted in: counts stay in memory until they are saved. An
 * instance that is killed loses those since the last save.
 */
export class CountedStatistics {
  readonly stored: Statistics;
  readonly #pool: Pool;
  #unsaved = new Map<string, FreshEntry>();

  /** `livingSubjects` as of `createStatistics`. */
  constructor(pool: Pool, clock: Clock, livingSubjects?: Statement) {
    this.stored = createStatistics({ pool, clock, livingSubjects });
    this.#pool = pool;
  }

  count({ counts, ...entry }: FreshEntry): void {
    const minute = Math.floor(entry.atMs / 60_000);
    const key = JSON.stringify([entry.accountId, entry.subjectId, minute, entry.labels]);
    const known = this.#unsaved.get(key);
    if (known === undefined && this.#unsaved.size >= unsavedMax) return;
    this.#unsaved.set(key, { ...entry, counts: counts.map((one, place) => one + (known?.counts[place] ?? 0)) });
  }

  /** Saves the counts, and keeps them for the next time when that fails. */
  readonly save = async (): Promise<void> => {
    const entries = [...this.#unsaved.values()];
    if (entries.length === 0) return;
    this.#unsaved = new Map();
    try {
      await this.#pool.query(insert, [freshBatch(entries)]);
    } catch (error) {
      for (const entry of entries) this.count(entry);
      throw error;
    }
  };
}
