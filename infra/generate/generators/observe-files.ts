import stringify from "json-stringify-pretty-compact";
import type { Generator } from "../generator.ts";

/** The files of Prometheus and Grafana: rules and dashboards. */
export const observeFiles: Generator = {
  name: "rules and dashboards",
  kind: "committed",
  folders: async () => ["infra/observe/grafana/dashboards"],
  generate: async () => {
    const { rulesFile, smallRulesFile } = await import("../../observe/alerts/rules-file.ts");
    const { dashboardOf } = await import("../../observe/dashboards/board.ts");
    const { boards } = await import("../../observe/dashboards/dashboards.ts");
    const dashboards = boards.map((board): [string, string] => [
      `infra/observe/grafana/dashboards/${board.uid}.json`,
      `${stringify(dashboardOf(board), { maxLength: 120 })}\n`,
    ]);
    return new Map([
      ["infra/observe/prometheus/rules.yml", rulesFile()],
      ["infra/observe/small/rules.yml", smallRulesFile()],
      ...dashboards,
    ]);
  },
};
