export type { MetricDeclaration } from "./catalogue/declare-metric.ts";
export { metricCatalogue } from "./catalogue/metric-catalogue.ts";
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
export { prometheusContentType, toPrometheusText } from "./prometheus-text.ts";
export type { Attributes, AttributeValue, Span, SpanKind, SpanOptions } from "./span.ts";
export type { LogDestination } from "./standard-output.ts";
export { startTelemetry, type Telemetry, type TelemetryOptions } from "./start-telemetry.ts";
export { parseTraceparent, type TraceIdentity } from "./trace-identity.ts";
export { createTracer, type Tracer } from "./tracer.ts";
