import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { enginesFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { engineNamed } from "@signalbox/infra/engines/engines.ts";
import { freePort } from "@signalbox/infra/engines/free-port.ts";
import { startOwnEngine } from "@signalbox/infra/engines/own-engines.ts";
import { alerts } from "@signalbox/infra/observe/alerts/alerts.ts";
import { rulesFile } from "@signalbox/infra/observe/alerts/rules-file.ts";
import { type Dashboard, dashboards, queriesOf } from "@signalbox/infra/observe/dashboards.ts";
import { metricCatalogue } from "@signalbox/runtime";
import { eventually } from "@signalbox/testing";
import type { System } from "../systems/system.ts";

/** The dashboards whose figures come from exporters, which a system without the profile `observe` lacks. */
const exporterDashboards: readonly string[] = ["signalbox-edge", "signalbox-engines"];

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

interface FiringAlert {
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A Prometheus that scrapes a system every three seconds, with the deployed rules. */
export interface RunningPrometheus {
  readonly url: string;
  /** @throws Error with Prometheus' own message for a refused expression */
  query(expression: string): Promise<readonly Sample[]>;
  /** The alerts that fire. */
  alerts(): Promise<readonly FiringAlert[]>;
  processes(): Promise<number[]>;
  close(): Promise<void>;
}

export async function startPrometheus(
  managementUrls: ReadonlyMap<string, string>,
  jobs: readonly object[] = [],
  { rules = rulesFile(), everySeconds = 3 }: { readonly rules?: string; readonly everySeconds?: number } = {},
): Promise<RunningPrometheus> {
  const parent = join(enginesFolder, "own");
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, "prometheus-"));
  const targets = [...managementUrls.values()].map((url) => new URL(url).host);
  const configuration = {
    // A scrape queries database and log, and on a busy machine takes longer than a second.
    global: {
      scrape_interval: `${everySeconds}s`,
      scrape_timeout: `${everySeconds}s`,
      evaluation_interval: "1s",
    },
    rule_files: ["rules.yml"],
    scrape_configs: [
      { job_name: "signalbox", metrics_path: "/management/metrics", static_configs: [{ targets }], honor_labels: true },
      ...jobs,
    ],
  };
  await writeFile(join(folder, "prometheus.yml"), JSON.stringify(configuration));
  await writeFile(join(folder, "rules.yml"), rules.replaceAll("interval: 30s", "interval: 1s"));
  const engine = await startOwnEngine(engineNamed("prometheus"), { port: await freePort(), folder });
  return {
    url: engine.url,
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
    async alerts() {
      const response = await fetch(`${engine.url}/api/v1/alerts`);
      const { data } = (await response.json()) as { data: { alerts: FiringAlert[] } };
      return data.alerts.filter(({ state }) => state === "firing");
    },
    processes: () => engine.processes(),
    close: async () => {
      await engine.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const seriesMax = 1_500;

/** Metrics that appear only with failures, which a journey does not have. */
const onlyInTrouble = [
  "signalbox_http_limited_total",
  "signalbox_outbox_publish_failures_total",
  "signalbox_outbox_dead_total",
  "signalbox_consumer_expired_total",
  "signalbox_dead_letters_total",
  "signalbox_consumer_halted_partitions",
  "signalbox_event_log_topics_replaced_total",
  "signalbox_audit_refusals_left_out_total",
  "signalbox_webhook_rejections_dropped_total",
  "signalbox_worker_restarts_total",
  // Present when a source has a read key of its sender.
  "signalbox_webhook_reconciliations_total",
  "signalbox_webhooks_missed_total",
  "signalbox_webhook_sender_requests_total",
  // Present when a manifest or supergraph is watched.
  "signalbox_graphql_reload_failures_total",
  // Present when the server ends a subscription.
  "signalbox_live_subscriptions_ended_total",
];

/**
 * Checks the metrics of a used system: the texts pass Prometheus' own check, no metric exceeds its number of series,
 * and some process exposes each metric of the catalogue.
 */
export async function assertMetrics({ managementUrls }: Pick<System, "managementUrls">): Promise<void> {
  const exposed = new Set<string>();
  for (const [service, url] of managementUrls) {
    const response = await fetch(`${url}/management/metrics`, { headers: { accept: "text/plain" } });
    assert.equal(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    const body = await response.text();
    assert.equal(await promtool(["check", "metrics"], body), "", service);
    const series = body.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    assert.ok(series.length <= seriesMax, `${service} exposes ${series.length} series`);
    for (const line of series) exposed.add(/^[a-z_]+/.exec(line)?.[0] ?? "");
  }
  const isExposed = (name: string) => exposed.has(name) || exposed.has(`${name}_count`);
  const missing = Object.keys(metricCatalogue).filter((name) => !isExposed(name) && !onlyInTrouble.includes(name));
  assert.deepEqual(missing, [], "metrics that no process exposes");
}

/**
 * Checks that every dashboard query finds data in a used system, and that every alert can be evaluated. A share of
 * requests needs some between two scrapes, so requests continue.
 */
export async function assertQueries(
  prometheus: RunningPrometheus,
  { baseUrl }: Pick<System, "baseUrl">,
): Promise<void> {
  const own = dashboards.filter(({ uid }) => !exporterDashboards.includes(uid));
  await findData(prometheus, own, async () => void (await (await fetch(`${baseUrl}/api/v2/settings/`)).arrayBuffer()));
  for (const { expr } of alerts) await prometheus.query(expr);
}

/** Checks that every query of the dashboards finds data; `use` is called before each attempt. */
export async function findData(
  prometheus: RunningPrometheus,
  some: readonly Dashboard[],
  use: () => Promise<void>,
): Promise<void> {
  const queries = some.flatMap((dashboard) =>
    queriesOf(dashboard).map(({ title, expr }) => ({ name: `${dashboard.title}, ${title}`, expr })),
  );
  for (const { name, expr } of queries) {
    const asked = expr.replaceAll("$__rate_interval", "1m").replaceAll("$service", ".*");
    const findsData = async () => {
      await use();
      return (await prometheus.query(asked)).length > 0;
    };
    await eventually(findsData, { timeoutMs: 60_000, message: `${name}: ${asked} finds data` });
  }
}

/** Returns promtool's findings; empty when all is well. */
async function promtool(args: readonly string[], input: string): Promise<string> {
  const child = spawn("promtool", args, { stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(input);
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return out + errors;
}
