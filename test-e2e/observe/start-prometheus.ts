import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { engineNamed, enginesFolder, freePort, startOwnEngine } from "@signalbox/infra/engines/index.ts";
import { rulesFile } from "@signalbox/infra/observe/alerts/rules-file.ts";

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** A Prometheus that scrapes a system every three seconds, with the deployed rules. */
export interface RunningPrometheus {
  /** @throws Error with Prometheus' own message for a refused expression */
  query(expression: string): Promise<readonly Sample[]>;
  close(): Promise<void>;
}

export async function startPrometheus(managementUrls: ReadonlyMap<string, string>): Promise<RunningPrometheus> {
  const parent = join(enginesFolder, "own");
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, "prometheus-"));
  const targets = [...managementUrls.values()].map((url) => new URL(url).host);
  const configuration = {
    // A scrape queries database and log, and on a busy machine takes longer than a second.
    global: { scrape_interval: "3s", scrape_timeout: "3s", evaluation_interval: "1s" },
    rule_files: ["rules.yml"],
    scrape_configs: [
      { job_name: "signalbox", metrics_path: "/management/metrics", static_configs: [{ targets }], honor_labels: true },
    ],
  };
  await writeFile(join(folder, "prometheus.yml"), JSON.stringify(configuration));
  await writeFile(join(folder, "rules.yml"), rulesFile().replaceAll("interval: 30s", "interval: 1s"));
  const engine = await startOwnEngine(engineNamed("prometheus"), { port: await freePort(), folder });
  return {
    async query(expression) {
      const response = await fetch(`${engine.url}/api/v1/query?${new URLSearchParams({ query: expression })}`);
      const { status, data, error } = (await response.json()) as {
        status: string;
        error?: string;
        data: { result: Sample[] };
      };
      if (status !== "success") throw new Error(`${expression}: ${error}`);
      return data.result;
    },
    close: async () => {
      await engine.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
