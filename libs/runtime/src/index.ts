export { collectGarbage } from "./collect-garbage.ts";
export { brokenRules, refusalOfOverride } from "./config/check-overrides.ts";
export {
  type Configuration,
  ConfigurationError,
  type OverrideChange,
  type OverrideSet,
} from "./config/configuration.ts";
export { environment, setVariable } from "./config/environment.ts";
export { loadConfiguration } from "./config/load-configuration.ts";
export { mask, type ShownClasses } from "./config/masking.ts";
export { checkValue } from "./config/parse-value.ts";
export {
  defineProperties,
  type PropertyDeclaration,
  type PropertyDeclarations,
  type PropertyScalar,
  property,
} from "./config/property-declaration.ts";
export { startHelp } from "./config/start-help.ts";
export { startOptions } from "./config/start-options.ts";
export { createRunner, type ProcessRunner } from "./create-runner.ts";
export { createServiceContext } from "./create-service-context.ts";
export { createErrorResponses, type ErrorResponses, endWithResponse } from "./error-response.ts";
export { createHealth, type Health, type ProcessHealth } from "./health.ts";
export { knownPropertyNames } from "./known-property-names.ts";
export { openListener, ownPorts } from "./open-listener.ts";
export { openManagement, openServiceListener, openTelemetry } from "./process-doors.ts";
export { type RuntimeProperties, runtimeProperties } from "./properties.ts";
export { countUnhandledRejections, endRequestOfRejection, RequestScope } from "./request-scope.ts";
export { runService } from "./run-service.ts";
export { runUntilStopped } from "./run-until-stopped.ts";
export type { Runner, ShutdownHooks } from "./runner.ts";
export type { ServiceContext, ServiceParts } from "./service-context.ts";
export type { MetricDeclaration } from "./telemetry/catalogue/declare-metric.ts";
export { metricCatalogue } from "./telemetry/catalogue/metric-catalogue.ts";
export { nginxMetrics } from "./telemetry/catalogue/nginx-metrics.ts";
export { createLogger, type Logger } from "./telemetry/logger.ts";
export { prometheusContentType, toPrometheusText } from "./telemetry/merge-metrics.ts";
export {
  type Counter,
  createMetrics,
  type Histogram,
  type Labels,
  type Metrics,
  openMetricsContentType,
} from "./telemetry/metrics.ts";
export type { Outage } from "./telemetry/outage.ts";
export type { Attributes, Span, SpanOptions } from "./telemetry/tracing/span.ts";
export { createTracer, type Tracer } from "./telemetry/tracing/tracer.ts";
export { createWakeUp, type WakeUp } from "./wake-up.ts";
