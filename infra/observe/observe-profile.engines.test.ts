import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { promisify } from "node:util";
import { serviceNames } from "@signalbox/core";
import { parse } from "yaml";
import { serviceOf } from "../edge/edge-routes.ts";
import { repositoryFolder } from "../engines/engine-folders.ts";
import { alerts } from "./alerts/alerts.ts";

const run = promisify(execFile);
const at = (path: string): string => join(repositoryFolder, path);
const read = async (path: string) => parse(await readFile(at(path), "utf8"), { merge: true });

interface Container {
  readonly profiles?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly networks?: readonly string[] | Readonly<Record<string, unknown>>;
  readonly mem_limit: string;
}

describe("the profile `observe` of docker-compose.yml", () => {
  let services: Readonly<Record<string, Container>> = {};
  before(async () => {
    ({ services } = await read("docker-compose.yml"));
  });
  const service = (name: string): Container => services[name] ?? assert.fail(`there is no service ${name}`);
  const mounts = (name: string) =>
    (service(name).volumes ?? []).map((text) => {
      const [source = "", target = ""] = text.split(":");
      return { source, target };
    });

  test("Prometheus accepts its configuration and rules, and Alertmanager its own", async () => {
    await run("promtool", ["check", "config", at("infra/observe/prometheus/prometheus.yml")]);
    await run("amtool", ["check-config", at("infra/observe/alertmanager/alertmanager.yml")]);
  });

  test("every service is scraped, and nothing that does not exist", async () => {
    const { scrape_configs: jobs, alerting } = await read("infra/observe/prometheus/prometheus.yml");
    const targetsOf = (one: { static_configs: { targets: string[] }[] }) =>
      one.static_configs.flatMap(({ targets }) => targets);
    const ours = jobs.find(({ job_name }: { job_name: string }) => job_name === "signalbox");
    assert.deepEqual(targetsOf(ours).toSorted(), serviceNames.map((name) => `${name}:8081`).toSorted());
    for (const target of [...jobs, ...alerting.alertmanagers].flatMap(targetsOf)) {
      const [name = ""] = target.replace("http://", "").split(":");
      assert.ok(name === "localhost" || services[name], `${target} is a service`);
    }
  });

  test("every job is looked at by an alert, and the probe asks for every area behind the edge", async () => {
    const { scrape_configs: jobs } = await read("infra/observe/prometheus/prometheus.yml");
    const expressions = alerts.map(({ expr }) => expr).join("\n");
    for (const { job_name: job } of jobs) {
      // The watch's own parts: whether they answer.
      const isOwn = ["collector", "alertmanager", "prometheus"].includes(job);
      assert.ok(isOwn || expressions.includes(`job="${job}"`), `no alert looks at ${job}`);
    }
    const probe = jobs.find(({ job_name }: { job_name: string }) => job_name === "probe");
    const inCluster = await read("k8s/components/service-monitor/probe.yaml");
    assert.equal(inCluster.spec.jobName, "probe");
    for (const targets of [probe.static_configs[0].targets, inCluster.spec.targets.staticConfig.static]) {
      const asked = targets.map((target: string) => serviceOf(new URL(target).pathname));
      assert.deepEqual(asked.toSorted(), serviceNames.filter((name) => name !== "image-worker").toSorted());
    }
  });

  test("every alert has a receiver: pages and the watchdog apart from tickets", async () => {
    const { route, receivers } = await read("infra/observe/alertmanager/alertmanager.yml");
    const config = at("infra/observe/alertmanager/alertmanager.yml");
    const receiverOf = async (...labels: string[]) =>
      (await run("amtool", ["config", "routes", "test", `--config.file=${config}`, ...labels])).stdout.trim();
    assert.equal(await receiverOf("alertname=OutboxStuck", "severity=page"), "pager");
    assert.equal(await receiverOf("alertname=DeadLetters", "severity=ticket"), "tickets");
    assert.equal(await receiverOf("alertname=Watchdog", "severity=none"), "watchdog");
    assert.equal(route.receiver, receivers[1].name);
  });

  test("the collector's pipelines consist of its own parts, and it refuses data before its container would be killed", async () => {
    const { service: running, ...parts } = await read("infra/observe/collector/collector.yml");
    for (const pipeline of Object.values<Record<string, string[]>>(running.pipelines))
      for (const [kind, names] of Object.entries(pipeline))
        for (const name of names) assert.ok(parts[kind][name], `${kind} has ${name}`);
    assert.ok(parts.processors.memory_limiter.limit_mib < Number.parseInt(service("collector").mem_limit, 10));
  });

  test("Grafana finds Prometheus and our dashboards", async () => {
    const { datasources } = await read("infra/observe/grafana/provisioning/datasources/prometheus.yml");
    assert.ok(services[new URL(datasources[0].url).hostname]);
    const { providers } = await read("infra/observe/grafana/provisioning/dashboards/signalbox.yml");
    const folder = mounts("grafana").find(({ target }) => target === providers[0].options.path);
    assert.equal(folder?.source, "./infra/observe/grafana/dashboards");
    const home = service("grafana").environment?.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH ?? "";
    assert.ok(existsSync(home.replace(providers[0].options.path, at(folder.source))), home);
  });

  test("the mounted files exist, and no container is reachable from outside of this machine", () => {
    for (const name of Object.keys(services)) {
      for (const { source } of mounts(name)) {
        if (source.startsWith("./")) assert.ok(existsSync(at(source)), source);
      }
      for (const port of service(name).ports ?? []) assert.match(port, /^127\.0\.0\.1:/, name);
    }
  });

  test("nginx sends its lines to the address of the exporter, which runs with the edge", async () => {
    const [, address = "", port] =
      /access_log syslog:server=([\d.]+):(\d+),/.exec(await readFile(at("infra/nginx/nginx.conf"), "utf8")) ?? [];
    const exporter = service("edge-exporter");
    assert.deepEqual(exporter.networks, { inside: { ipv4_address: address } });
    assert.deepEqual([port, exporter.profiles], ["5514", undefined]);
  });

  test("`docker compose up` alone starts none of it", () => {
    const observers = Object.keys(services).filter((name) => service(name).profiles?.includes("observe"));
    const wanted = ["alertmanager", "collector", "grafana", "probe", "prometheus"];
    const exporters = ["kafka", "node", "postgres", "redis"].map((engine) => `${engine}-exporter`);
    assert.deepEqual(observers.toSorted(), [...wanted, ...exporters].toSorted());
  });
});
