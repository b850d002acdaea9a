import { stringify } from "yaml";
import type { Alert } from "./alert.ts";
import { alerts } from "./alerts.ts";
import { recordingsOf, slos } from "./slos.ts";

/** The rules as Prometheus reads them. */
export function rulesFile(): string {
  const groups = [
    { name: "signalbox-slos", interval: "30s", rules: slos.flatMap(recordingsOf) },
    { name: "signalbox-alerts", interval: "30s", rules: alerts.map(ruleOf) },
  ];
  return `# Generated from infra/observe/alerts by \`npm run generate\`.\n${stringify({ groups }, { lineWidth: 130 })}`;
}

function ruleOf({ name, severity, expr, for: lasting, summary }: Alert): object {
  return {
    alert: name,
    expr,
    ...(lasting !== undefined && { for: lasting }),
    labels: { severity },
    annotations: { summary, runbook: `docs/runbooks/${name}.md` },
  };
}
