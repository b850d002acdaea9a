import type { Metrics } from "@signalbox/runtime";

/** Measures each job on pixels: its duration including the wait, its outcome, and the size of its result. */
export function imageJobMetrics(metrics: Metrics) {
  const duration = metrics.histogram("signalbox_image_job_seconds");
  const bytes = metrics.counter("signalbox_image_rendered_bytes_total");
  return (task: string, outcome: string, durationMs: number, bytesMade: number): void => {
    duration.observe({ task, outcome }, durationMs / 1000);
    if (bytesMade > 0) bytes.inc({}, bytesMade);
  };
}
