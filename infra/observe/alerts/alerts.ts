import { type Alert, ofSignalbox } from "./alert.ts";
import { edgeAlerts, engineAlerts } from "./exporter-alerts.ts";
import { alertsOf, slos } from "./slos.ts";
import { thresholdAlerts } from "./threshold-alerts.ts";

/** Every alert. One of a service level exists twice: fast burns page, slow ones wait for the morning. */
export const alerts: readonly Alert[] = [
  ...slos.flatMap(alertsOf),
  ...thresholdAlerts.map((alert) => ({ ...alert, expr: ofSignalbox(alert.expr) })),
  ...edgeAlerts,
  ...engineAlerts,
];

/** Returns the underlying expressions of an alert: for a service level, the counters of its recorded shares. */
export function expressionsOf(name: string): string[] {
  const slo = slos.find(({ alert }) => alert === name);
  return slo ? [slo.all, slo.bad] : alerts.filter((alert) => alert.name === name).map(({ expr }) => expr);
}

/** Lists the metrics of an expression, without the suffixes of a histogram. */
export function metricsIn(expression: string): string[] {
  const names =
    expression
      .replaceAll(/"[^"]*"/g, "")
      .match(/\b(signalbox|http_server|nodejs|process|edge_|probe_|pg_|redis_|kafka_|node_|up)\w*\b/g) ?? [];
  return [...new Set(names.map((name) => name.replace(/_(bucket|count|sum)$/, "")))];
}

export function alertsUsing(metric: string): string[] {
  const names = [...new Set(alerts.map(({ name }) => name))];
  return names.filter((name) => expressionsOf(name).flatMap(metricsIn).includes(metric));
}
