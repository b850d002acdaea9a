import { GraphThresholdsStyleConfigBuilder, GraphThresholdsStyleMode } from "@grafana/grafana-foundation-sdk/common";
import {
  DashboardBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  TextBoxVariableBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder } from "@grafana/grafana-foundation-sdk/timeseries";
import { type MetricDeclaration, metricCatalogue, nginxMetrics } from "@signalbox/runtime";
import { alerts, alertsUsing, metricsIn } from "../alerts/alerts.ts";

interface Notes {
  /** Says what the catalogue of metrics does not, of recorded series. */
  readonly description?: string;
  /** The alert whose bound is a red line. */
  readonly alert?: string;
}

/** Builds a panel. `unit` is Grafana's: `s`, `Bps`, `percentunit`; `lines` are expressions by their legends: `{{service}}`. */
export const panel = (title: string, unit: string, lines: Readonly<Record<string, string>>, notes: Notes = {}) => ({
  title,
  unit,
  queries: Object.entries(lines).map(([legend, expr]) => ({ legend, expr })),
  ...notes,
});

type Panel = ReturnType<typeof panel>;

export const row = (title: string, panels: readonly Panel[]) => ({ title, panels });

/** A dashboard in our notation; its design is the same for all. */
export interface Board {
  readonly uid: string;
  readonly title: string;
  readonly rows: readonly ReturnType<typeof row>[];
  /** True when its figures come from exporters, which a system without the profile `observe` has not. */
  readonly ofExporters?: true;
}

/** Builds the rate of a counter, over a window that fits the zoom of the panel. */
export const perSecond = (metric: string, labels = ""): string =>
  `rate(${metric}${labels === "" ? "" : `{${labels}}`}[$__rate_interval])`;

export function histogramQuantile(quantile: number, metric: string, labels = "", by: readonly string[] = []): string {
  const groups = ["le", ...by].join(", ");
  return `histogram_quantile(${quantile}, sum by (${groups}) (${perSecond(`${metric}_bucket`, labels)}))`;
}

const width = 12;
const height = 8;
const source = { type: "prometheus", uid: "$datasource" };

/** Builds the dashboard in Grafana's import format. */
export function dashboardOf({ uid, title, rows }: Board): object {
  const dashboard = new DashboardBuilder(title)
    .uid(uid)
    .tags(["signalbox"])
    .refresh("30s")
    .time({ from: "now-1h", to: "now" })
    .timezone("browser")
    .withVariable(new DatasourceVariableBuilder("datasource").label("Prometheus").type("prometheus"))
    // Where runbooks are: the address of this deployment.
    .withVariable(new TextBoxVariableBuilder("signalbox").label("Signalbox").defaultValue("http://127.0.0.1:8080"))
    .withVariable(
      new QueryVariableBuilder("service")
        .label("Service")
        .datasource(source)
        .query("label_values(signalbox_build_info, service)")
        .includeAll(true)
        .allValue(".*")
        .multi(true),
    );
  for (const row of rows) {
    dashboard.withRow(new RowBuilder(row.title));
    for (const panel of row.panels) dashboard.withPanel(panelOf(panel));
  }
  return dashboard.build();
}

function panelOf(spec: Panel): PanelBuilder {
  const { title, unit, queries } = spec;
  const panel = new PanelBuilder().title(title).unit(unit).datasource(source).span(width).height(height).min(0);
  panel.description(descriptionOf(spec));
  const bound = boundOf(spec);
  if (bound !== null) {
    const steps = [
      { value: null, color: "green" },
      { value: bound, color: "red" },
    ];
    panel.thresholds(new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(steps));
    panel.thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Line));
  }
  for (const [at, { expr, legend }] of queries.entries()) {
    const refId = String.fromCharCode("A".charCodeAt(0) + at);
    const query = new DataqueryBuilder().refId(refId).expr(expr).legendFormat(legend);
    // A point of a distribution leads to the trace of one of its requests.
    panel.withTarget(expr.includes("_bucket") ? query.exemplar(true) : query);
  }
  return panel;
}

const metricsOf = ({ queries }: Panel): string[] => [...new Set(queries.flatMap(({ expr }) => metricsIn(expr)))];

/** Describes a panel by what the catalogue says of its metrics, and the runbooks of the alerts that look at them. */
export function descriptionOf(panel: Panel): string {
  const metrics = metricsOf(panel);
  const helps = metrics.flatMap((metric) => (metric in ours ? [`\`${metric}\`: ${ours[metric]?.help}`] : []));
  const names = [...new Set(metrics.flatMap(alertsUsing))];
  const runbooks = names.map((name) => `[${name}](\${signalbox}/docs/runbooks#${name.toLowerCase()})`);
  const own = panel.description === undefined ? [] : [panel.description];
  return [...own, ...helps, ...(runbooks.length > 0 ? [`Runbooks: ${runbooks.join(", ")}`] : [])].join("\n\n");
}

const ours: Readonly<Record<string, MetricDeclaration>> = { ...metricCatalogue, ...nginxMetrics };

/** Reads the bound of the panel's alert from the end of its expression, such as `> 26 * 3600`; null without an alert. */
export function boundOf({ alert }: Panel): number | null {
  if (alert === undefined) return null;
  const expr = alerts.find(({ name }) => name === alert)?.expr ?? "";
  const [, value, factor = "1"] = /> ([\d.e]+)(?: \* (\d+))?$/.exec(expr) ?? [];
  if (value === undefined) throw new Error(`the alert ${alert} of a panel has no bound`);
  return Number(value) * Number(factor);
}
