import {
  DashboardBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder } from "@grafana/grafana-foundation-sdk/timeseries";

interface Query {
  readonly expr: string;
  /** Label of a line: `{{service}}`. */
  readonly legend: string;
}

interface Panel {
  readonly title: string;
  /** Grafana's name of the unit: `s`, `Bps`, `percentunit`. */
  readonly unit: string;
  readonly queries: readonly Query[];
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** A dashboard in our notation; its design is the same for all. */
export interface Board {
  readonly uid: string;
  readonly title: string;
  readonly rows: readonly Row[];
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

function panelOf({ title, unit, queries }: Panel): PanelBuilder {
  const panel = new PanelBuilder().title(title).unit(unit).datasource(source).span(width).height(height).min(0);
  for (const [at, { expr, legend }] of queries.entries()) {
    const refId = String.fromCharCode("A".charCodeAt(0) + at);
    panel.withTarget(new DataqueryBuilder().refId(refId).expr(expr).legendFormat(legend));
  }
  return panel;
}
