import { stringify } from "yaml";
import type { Alert } from "./alert.ts";
import { alerts } from "./alerts.ts";
import { recordingsOf, type Slo, slos } from "./slos.ts";

/** Builds the rules file of Prometheus. */
export const rulesFile = (): string => rulesOf(slos, alerts);

/** Builds the rules file of one alert, with its recorded series. */
export function rulesFileOf(name: string): string {
  return rulesOf(
    slos.filter(({ alert }) => alert === name),
    alerts.filter((alert) => alert.name === name),
  );
}

function rulesOf(recorded: readonly Slo[], alerting: readonly Alert[]): string {
  const groups = [
    { name: "signalbox-slos", interval: "30s", rules: recorded.flatMap(recordingsOf) },
    { name: "signalbox-alerts", interval: "30s", rules: alerting.map(ruleOf) },
  ].filter(({ rules }) => rules.length > 0);
  return `# Generated from infra/observe/alerts by \`npm run generate\`.\n${stringify({ groups }, { lineWidth: 130 })}`;
}

function ruleOf({ name, severity, expr, for: lasting, summary }: Alert): object {
  return {
    alert: name,
    expr,
    ...(lasting !== undefined && { for: lasting }),
    labels: { severity },
    annotations: { summary, runbook: `docs/runbooks.md#${name.toLowerCase()}` },
  };
}
