import type { Metrics } from "@signalbox/telemetry";

/** Tells of each job on pixels: how long it took with its wait, what came of it, and the bytes that were made. */
export function imageJobMetrics(metrics: Metrics) {
  const duration = metrics.histogram("signalbox_image_job_seconds");
  const bytes = metrics.counter("signalbox_image_rendered_bytes_total");
  return (job: string, outcome: string, durationMs: number, bytesMade: number): void => {
    duration.observe({ job, outcome }, durationMs / 1000);
    if (bytesMade > 0) bytes.inc({}, bytesMade);
  };
}
