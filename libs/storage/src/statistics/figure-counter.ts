import type { Pool } from "../database/pool.ts";
import { sql } from "../database/prepared-statement.ts";
import { type FreshEntry, freshBatch } from "./fresh-figures.ts";

/**
 * Combinations that wait to be saved. Beyond it further ones are not counted: it takes an outage of the database and
 * many subjects.
 */
const unsavedMax = 10_000;

const insert = sql("statistics.insert-fresh", "insert into signalbox.fresh_statistics (batch) values ($1)");

/**
 * Creates a counter in memory, for what has no statement of its own to be counted in. An instance that is killed loses
 * what it has not saved yet.
 */
export function createFigureCounter(pool: Pool) {
  let unsaved = new Map<string, FreshEntry>();

  function count({ counts, ...entry }: FreshEntry): void {
    const minute = Math.floor(entry.atMs / 60_000);
    const key = JSON.stringify([entry.accountId, entry.subjectId, minute, entry.labels]);
    const known = unsaved.get(key);
    if (known === undefined && unsaved.size >= unsavedMax) return;
    unsaved.set(key, { ...entry, counts: counts.map((one, place) => one + (known?.counts[place] ?? 0)) });
  }

  return {
    count,

    /** Saves the counts, and keeps them for the next time when that fails. */
    async save(): Promise<void> {
      const entries = [...unsaved.values()];
      if (entries.length === 0) return;
      unsaved = new Map();
      try {
        await pool.query(insert, [freshBatch(entries)]);
      } catch (error) {
        entries.forEach(count);
        throw error;
      }
    },
  };
}
