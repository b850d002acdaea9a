export type { MetricDeclaration } from "./catalogue/declare-metric.ts";
export { metricCatalogue } from "./catalogue/metric-catalogue.ts";
export { nginxMetrics } from "./catalogue/nginx-metrics.ts";
export {
  createLogger,
  type Logger,
  type LogLevel,
} from "./logger.ts";
export { mergeMetrics } from "./merge-metrics.ts";
export {
  type Counter,
  createMetrics,
  type Histogram,
  type Labels,
  type Metrics,
  openMetricsContentType,
} from "./metrics.ts";
export type { Outage } from "./outage.ts";
export { prometheusContentType, toPrometheusText } from "./prometheus-text.ts";
export type { Attributes, Span, SpanOptions } from "./span.ts";

export { startTelemetry } from "./start-telemetry.ts";
export { parseTraceparent } from "./trace-identity.ts";
export { createTracer, type Tracer } from "./tracer.ts";
