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
      `${JSON.stringify(dashboardOf(board), null, 2)}\n`,
    ]);
    return new Map([
      ["infra/observe/prometheus/rules.yml", rulesFile()],
      ["infra/observe/small/rules.yml", smallRulesFile()],
      ...dashboards,
    ]);
  },
};

/** Manifests of the services, jobs and routes, the chart of the same, and the page of who may reach whom. */
export const kubernetesManifests: Generator = {
  name: "Kubernetes manifests",
  kind: "committed",
  folders: async () => ["k8s/chart/templates"],
  generate: async () => {
    const { kubernetesFiles } = await import("../../kubernetes/kubernetes-files.ts");
    const { chartFiles } = await import("../../kubernetes/chart/chart-files.ts");
    const { networkPage } = await import("../../kubernetes/network-page.ts");
    return new Map([...kubernetesFiles(), ...(await chartFiles()), ["docs/reference/network.md", networkPage()]]);
  },
};
