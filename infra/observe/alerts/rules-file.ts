import { stringify } from "yaml";
import { dashboards, queriesOf } from "../dashboards.ts";
import type { Alert } from "./alert.ts";
import { alerts, expressionsOf, metricsIn } from "./alerts.ts";
import { recordingsOf, type Slo, slos } from "./slos.ts";

/** Builds the rules files of the deployments, by name. The small one, without nginx, Redis and Kafka, loads the first. */
export const rulesFiles = (): Record<string, string> => ({
  "common.yml": rulesOf(slos, alerts.filter(isForSmall)),
  "nginx-redis-kafka.yml": rulesOf(
    [],
    alerts.filter((alert) => !isForSmall(alert)),
    "signalbox-engine-alerts",
  ),
});

/** Jobs that are scraped of the small deployment: it has no nginx, Redis or Kafka. */
const smallJobs = ["signalbox", "probe", "node", "postgres"];

/** One that looks at recorded shares, or at nothing, names no job. */
export function isForSmall({ expr }: Alert): boolean {
  const jobs = [...expr.matchAll(/job=~?"([^"]*)"/g)].flatMap(([, names = ""]) => names.split("|"));
  return jobs.length === 0 || jobs.some((job) => smallJobs.includes(job));
}

/** Builds one file of some alerts with their recorded series, or of every rule. */
export function rulesFile(names: readonly string[] = alerts.map(({ name }) => name)): string {
  return rulesOf(
    slos.filter(({ alert }) => names.includes(alert)),
    alerts.filter(({ name }) => names.includes(name)),
  );
}

function rulesOf(recorded: readonly Slo[], alerting: readonly Alert[], group = "signalbox-alerts"): string {
  const groups = [
    { name: "signalbox-slos", interval: "30s", rules: recorded.flatMap(recordingsOf) },
    { name: group, interval: "30s", rules: alerting.map(ruleOf) },
  ].filter(({ rules }) => rules.length > 0);
  return `# Generated from infra/observe/alerts by \`npm run generate\`.\n${stringify({ groups }, { lineWidth: 130 })}`;
}

function ruleOf({ name, severity, expr, for: lasting, summary, console }: Alert): object {
  return {
    alert: name,
    expr,
    ...(lasting !== undefined && { for: lasting }),
    labels: { severity },
    annotations: {
      summary,
      runbook_url: `${signalboxUrl}/docs/runbooks#${name.toLowerCase()}`,
      dashboard_url: `${addressOf("grafana_url", "http://127.0.0.1:3000")}/d/${boardOf(name)}`,
      ...(console !== undefined && { console_url: `${signalboxUrl}/console/operations${console}` }),
    },
  };
}

/** Builds an address that each Prometheus names as an external label; without it, that of one's own machine. */
const addressOf = (label: string, standard: string): string => `{{ or $externalLabels.${label} "${standard}" }}`;

const signalboxUrl = addressOf("signalbox_url", "http://127.0.0.1:8080");

/** Names the first dashboard that shows a metric of the alert; the one of the whole journey when none does. */
export function boardOf(name: string): string {
  const metrics = expressionsOf(name).flatMap(metricsIn);
  const shows = dashboards.find((dashboard) =>
    queriesOf(dashboard).some(({ expr }) => metricsIn(expr).some((metric) => metrics.includes(metric))),
  );
  return shows?.uid ?? "signalbox-journey";
}
