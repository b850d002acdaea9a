import type { Edge } from "./edge.ts";
import type { HttpContext } from "./http-context.ts";
import { trafficOf } from "./traffic.ts";

/** Completes what all routes of an app share: its metrics and the live limits, read without a look-up per request. */
export function createEdge(
  context: HttpContext,
  parts: Omit<Edge, "context" | "errorDocs" | "duration" | "limited" | "traffic" | "live">,
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
  const duration = metrics.histogram("http_server_request_duration_seconds");
  const measured = { duration, limited: metrics.counter("signalbox_http_limited_total"), traffic: trafficOf(metrics) };
  return { context, ...parts, errorDocs: configuration.get("http.error-docs"), ...measured, live };
}
