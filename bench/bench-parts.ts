import { readFile } from "node:fs/promises";
import { systemClock } from "@signalbox/core";
import { eventsMigrations } from "@signalbox/events";
import { migrate, openPool } from "@signalbox/storage";
import { createLogger, createMetrics, createTracer } from "@signalbox/telemetry";
import { testDatabase } from "@signalbox/testing";

/** Creates the libraries' dependencies for a bench: the real parts, with discarded log lines. */
export function benchParts() {
  return {
    log: createLogger({ service: "images", instance: "bench", level: "info", destination: { write: () => {} } }),
    metrics: createMetrics({ service: "images" }),
    tracer: createTracer("images"),
    clock: systemClock,
  };
}

/** Creates a database of its own with the tables of the event library, and connections to it. */
export async function openBenchDatabase(parts: ReturnType<typeof benchParts>) {
  const database = await testDatabase();
  const { url } = database;
  const tables = { prismaDirectory: null, libraryMigrations: [eventsMigrations] };
  await migrate({ url, service: "images", ...tables, log: parts.log });
  const pool = openPool({ url, max: 12, applicationName: "bench", ...parts, runner: { defer: () => {} } });
  return {
    pool,
    close: async () => {
      await pool.close();
      await database.close();
    },
  };
}

/** Returns the value below which this share of the samples lies. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const rounded = (value: number): number => Math.round(value * 10) / 10;

/** Reads the resident, the proportional or the anonymous size of these processes (proc(5), smaps_rollup). */
export async function memoryOf(size: "Rss" | "Pss" | "Anonymous", pids: readonly number[]): Promise<number> {
  let kib = 0;
  for (const pid of pids) {
    const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
    kib += Number(new RegExp(`^${size}: +(\\d+)`, "m").exec(text)?.[1] ?? 0);
  }
  return rounded(kib / 1024);
}
