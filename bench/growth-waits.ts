import { setTimeout as sleep } from "node:timers/promises";
import { type Pool, sql } from "@signalbox/storage";
import { percentile, rounded } from "./bench-parts.ts";

const rounds = 3;
const pages = 200;
const pauseMs = 5;

/** One thing that grew, with what it costs while it is small and when it is large. */
export interface Grown {
  readonly name: string;
  /** The most that a cost may be of the small one. */
  readonly wantedTimes: number;
  readonly unit: string;
  readonly kind: "p99" | "cost";
  /** Costs by their names; the same names in both. */
  readonly few: Readonly<Record<string, number>>;
  readonly many: Readonly<Record<string, number>>;
}

/** Takes the middle of the figures of some rounds: one pause of the machine is not what grows. */
export async function middleOfRounds<Name extends string>(
  round: () => Promise<Record<Name, number>>,
): Promise<Record<Name, number>> {
  const measured: Record<Name, number>[] = [];
  while (measured.length < rounds) measured.push(await round());
  const names = Object.keys(measured[0] ?? {}) as Name[];
  const middle = (name: Name) => measured.map((figures) => figures[name]);
  return Object.fromEntries(names.map((name) => [name, percentile(middle(name), 0.5)])) as Record<Name, number>;
}

/** Reads a page again and again, and returns the p99 of its milliseconds. */
export async function pageP99Ms(read: () => Promise<{ readonly status: number }>): Promise<number> {
  const tookMs: number[] = [];
  while (tookMs.length < pages) {
    const startedMs = performance.now();
    const { status } = await read();
    if (status !== 200) throw new Error(`a page was answered ${status}`);
    tookMs.push(performance.now() - startedMs);
    await sleep(pauseMs);
  }
  return rounded(percentile(tookMs, 0.99));
}

/** Lets the server finish what so many rows leave behind, which is no part of what the size costs. */
export async function settle(pool: Pool, tables: readonly string[]): Promise<void> {
  for (const table of tables) await pool.query(sql("", `vacuum analyze ${table}`));
  await pool.query(sql("", "checkpoint"));
}
