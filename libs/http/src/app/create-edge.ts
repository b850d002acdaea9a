import type { Edge } from "./edge.ts";
import type { HttpContext } from "./http-context.ts";

/** From a cached answer to a slow upstream, in seconds. */
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Completes what all routes of an app share: its histogram and the live limits, read without a look-up per request. */
export function createEdge(
  context: HttpContext,
  parts: Omit<Edge, "context" | "errorDocs" | "duration" | "live">,
): Edge {
  const { configuration, metrics } = context;
  const live = {
    requestTimeoutMs: configuration.get("limits.requestTimeoutSeconds") * 1000,
    requestBytesMax: configuration.get("limits.maxRequestBytes"),
  };
  configuration.onChange("limits.requestTimeoutSeconds", (secondsMax) => {
    live.requestTimeoutMs = secondsMax * 1000;
  });
  configuration.onChange("limits.maxRequestBytes", (bytes) => {
    live.requestBytesMax = bytes;
  });
  const duration = metrics.histogram(
    "http_server_request_duration_seconds",
    "Time from the first byte of a request being handled to its answer being written.",
    ["method", "route", "status"],
    durationBuckets,
  );
  return { context, ...parts, errorDocs: configuration.get("http.error-docs"), duration, live };
}
