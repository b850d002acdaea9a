import { edgeMetrics } from "./edge-metrics.ts";
import { eventMetrics } from "./event-metrics.ts";
import { processMetrics } from "./process-metrics.ts";
import { productMetrics } from "./product-metrics.ts";

/**
 * Every metric that Signalbox tells beside those of Node itself. What is not listed cannot be made; docs/reference/metrics.md
 * is printed from here, and alerts and dashboards may use no other.
 */
export const metricCatalogue = { ...processMetrics, ...edgeMetrics, ...eventMetrics, ...productMetrics } as const;

export type MetricCatalogue = typeof metricCatalogue;
