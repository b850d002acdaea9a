import { edgeMetrics } from "./edge-metrics.ts";
import { eventMetrics } from "./event-metrics.ts";
import { processMetrics } from "./process-metrics.ts";
import { productMetrics } from "./product-metrics.ts";

/**
 * Every metric of Signalbox besides those of Node itself. An unlisted one cannot be created; docs/reference/metrics.md
 * is printed from here, and alerts and dashboards may use no other.
 */
export const metricCatalogue = { ...processMetrics, ...edgeMetrics, ...eventMetrics, ...productMetrics } as const;

export type MetricCatalogue = typeof metricCatalogue;
