import { type MetricDeclaration, metricCatalogue, nginxMetrics } from "@signalbox/runtime";
import { alertsUsing } from "../../observe/alerts/alerts.ts";
import { fileGenerator } from "../generator.ts";

/** The page of metrics, each with its type, unit, labels and buckets, and its alerts. */
export const metricsReference = fileGenerator("docs/reference/metrics.md", () =>
  page(linesOf(metricCatalogue), linesOf(nginxMetrics)),
);

const linesOf = (catalogue: Readonly<Record<string, MetricDeclaration>>): string[] =>
  Object.entries(catalogue)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(lineOf);

function lineOf([name, { type, help, labels }]: [string, MetricDeclaration]): string {
  const kind = `${type}${labels.length > 0 ? ` by ${labels.map((label) => `\`${label}\``).join(", ")}` : ""}`;
  const links = alertsUsing(name)
    .map((alert) => ` [${alert}](../runbooks.md#${alert.toLowerCase()})`)
    .join("");
  return `- \`${name}\` (${kind}): ${help}${links}`;
}

/** Lists the buckets of histograms, with those that have them. */
function bucketLines(): string[] {
  const all: Readonly<Record<string, MetricDeclaration>> = { ...metricCatalogue, ...nginxMetrics };
  const groups = Map.groupBy(Object.entries(all), ([, { buckets = [] }]) => buckets.join(" "));
  groups.delete("");
  return [...groups].map(
    ([buckets, same]) =>
      `- ${same
        .map(([name]) => `\`${name}\``)
        .toSorted()
        .join(", ")}: ${buckets}`,
  );
}

function page(lines: readonly string[], edgeLines: readonly string[]): string {
  return `# Metrics

Generated from \`libs/runtime/src/telemetry/catalogue\`. Every process serves its metrics at \`GET /management/metrics\` of its management
server, in OpenMetrics or in the older text of Prometheus, with Node's own \`process_*\` and \`nodejs_*\` beside them. Each sample has the
label \`service\`. A metric has at most 1,000 combinations of label values; later ones are counted under \`other\`. Histograms carry the
trace of a request as their exemplar where it is exported. Each line names type, labels, and the alerts that look at the metric.

${lines.join("\n")}

## The edge

nginx counts nothing by route or status, so it sends a line for each request to the exporter beside it (\`infra/edge/exporter\`), which serves these
at \`/metrics\`, port 9113. A \`route\` is a prefix of the published paths, and \`none\` where nothing is published: no label holds text of a caller.
Lines that arrive while the exporter is away are not counted. In a cluster the alerts look at the metrics of ingress-nginx.

${edgeLines.join("\n")}

## Buckets

${bucketLines().join("\n")}
`;
}
