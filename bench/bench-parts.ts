import { readFile } from "node:fs/promises";
import { systemClock } from "@signalbox/core";
import { createLogger, createMetrics, createTracer } from "@signalbox/runtime";

/** Creates the libraries' dependencies for a bench: the real parts, with discarded log lines. */
export function benchParts() {
  return {
    log: createLogger({ service: "images", instance: "bench", level: "info", destination: { write: () => {} } }),
    metrics: createMetrics({ service: "images" }),
    tracer: createTracer("images"),
    clock: systemClock,
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
