import { systemClock } from "@signalbox/core";
import { createLogger, createMetrics, createTracer } from "@signalbox/telemetry";

/** What the libraries are handed in a bench: the real parts, with lines that nobody reads. */
export function benchParts() {
  return {
    log: createLogger({ service: "images", instance: "bench", level: "info", destination: { write: () => {} } }),
    metrics: createMetrics({ service: "images" }),
    tracer: createTracer("images"),
    clock: systemClock,
  };
}

/** The value below which the share of samples lies. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const rounded = (value: number): number => Math.round(value * 10) / 10;
