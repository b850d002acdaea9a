export {
  createLogger,
  type Logger,
  type LoggerOptions,
  type LogLevel,
  logLevels,
} from "./logger.ts";
export { mergeMetrics } from "./merge-metrics.ts";
export {
  type Counter,
  createMetrics,
  type Gauge,
  type Histogram,
  type Labels,
  type Metrics,
  type MetricsOptions,
  openMetricsContentType,
} from "./metrics.ts";
export type { Outage } from "./outage.ts";
export type { Attributes, AttributeValue, Span, SpanKind, SpanOptions } from "./span.ts";
export type { LogDestination } from "./standard-output.ts";
export { startTelemetry, type Telemetry, type TelemetryOptions } from "./start-telemetry.ts";
export { parseTraceparent, type TraceIdentity } from "./trace-identity.ts";
export { createTracer, type Tracer } from "./tracer.ts";
