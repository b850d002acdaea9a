import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { promisify } from "node:util";
import { serviceNames } from "@signalbox/core";
import { parse } from "yaml";
import { serviceOf } from "../edge/edge-routes.ts";
import { repositoryFolder } from "../engines/engine-folders.ts";
import type { Alert } from "./alerts/alert.ts";
import { alerts } from "./alerts/alerts.ts";
import { isForSmall } from "./alerts/rules-file.ts";

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

interface Deployment {
  readonly file: string;
  /** Folder of the configuration of its Prometheus. */
  readonly folder: string;
  /** The files of `infra/observe/rules` that its Prometheus loads. */
  readonly rules: readonly string[];
  readonly scraped: readonly string[];
  /** Beside Prometheus, Alertmanager, Grafana and the probe. */
  readonly exporters: readonly string[];
  readonly alerts: readonly Alert[];
}

const deployments: readonly Deployment[] = [
  {
    file: "docker-compose.yml",
    folder: "infra/observe/prometheus",
    rules: ["common.yml", "nginx-redis-kafka.yml"],
    scraped: serviceNames,
    exporters: ["collector", "kafka-exporter", "node-exporter", "postgres-exporter", "redis-exporter"],
    alerts,
  },
  {
    file: "compose.small.yml",
    folder: "infra/observe/small",
    rules: ["common.yml"],
    scraped: ["signalbox"],
    exporters: ["node-exporter", "postgres-exporter"],
    alerts: alerts.filter(isForSmall),
  },
];

interface Job {
  readonly job_name: string;
  readonly static_configs: { readonly targets: readonly string[] }[];
}

const targetsOf = ({ static_configs }: Pick<Job, "static_configs">) => static_configs.flatMap(({ targets }) => targets);
const areas = serviceNames.filter((name) => name !== "image-worker").toSorted();
const areasOf = (urls: readonly string[]) => urls.map((url) => serviceOf(new URL(url).pathname)).toSorted();

for (const { file, folder, rules: loaded, scraped, exporters, alerts: own } of deployments) {
  describe(`the profile \`observe\` of ${file}`, () => {
    let services: Readonly<Record<string, Container>> = {};
    let jobs: readonly Job[] = [];
    before(async () => {
      ({ services } = await read(file));
      ({ scrape_configs: jobs } = await read(join(folder, "prometheus.yml")));
    });
    const job = (name: string) => jobs.find(({ job_name }) => job_name === name) ?? assert.fail(`no job ${name}`);

    test("Prometheus accepts the configuration mounted in its container", async () => {
      await run("promtool", ["check", "config", at(join(folder, "prometheus.yml"))]);
      const mounted = mountsOf(services.prometheus).find(({ target }) => target === "/etc/prometheus");
      assert.equal(mounted?.source, `./${folder}`);
    });

    test("the container finds the rules where its configuration looks for them", async () => {
      const { rule_files: patterns } = await read(join(folder, "prometheus.yml"));
      const found: string[] = [];
      for await (const path of glob(patterns, { cwd: at(folder) })) found.push(path);
      assert.deepEqual(
        found.toSorted(),
        loaded.map((name) => `../rules/${name}`),
      );
      const mounted = mountsOf(services.prometheus).find(({ target }) => target === "/etc/rules");
      assert.equal(mounted?.source, "./infra/observe/rules");
    });

    test("Prometheus scrapes every service, but no target that does not exist", async () => {
      const { alerting } = await read(join(folder, "prometheus.yml"));
      assert.deepEqual(targetsOf(job("signalbox")).toSorted(), scraped.map((name) => `${name}:8081`).toSorted());
      for (const target of [...jobs, ...alerting.alertmanagers].flatMap(targetsOf)) {
        const [name = ""] = target.replace("http://", "").split(":");
        assert.ok(name === "localhost" || services[name], `${target} is a service`);
      }
    });

    test("every job is looked at by an alert", () => {
      const expressions = own.map(({ expr }) => expr).join("\n");
      for (const { job_name } of jobs) {
        // The watch's own parts: whether they answer.
        const isOwn = ["collector", "alertmanager", "prometheus"].includes(job_name);
        assert.ok(isOwn || expressions.includes(`job="${job_name}"`), `no alert looks at ${job_name}`);
      }
    });

    test("the probe asks for every area behind the edge", () => {
      assert.deepEqual(areasOf(targetsOf(job("probe"))), areas);
    });

    test("the rules are exactly those that look at something scraped", async () => {
      const files = await Promise.all(loaded.map((name) => read(`infra/observe/rules/${name}`)));
      const rules: { alert?: string }[] = files
        .flatMap(({ groups }) => groups)
        .flatMap(({ rules: some }: { rules: [] }) => some);
      const names = rules.flatMap(({ alert }) => alert ?? []);
      assert.deepEqual(names.toSorted(), own.map(({ name }) => name).toSorted());
      const known = jobs.map(({ job_name }) => job_name);
      for (const { name, expr } of own) {
        const asked = [...expr.matchAll(/job="([^"]*)"/g)].map(([, one = ""]) => one);
        assert.ok(asked.length === 0 || asked.some((one) => known.includes(one)), `${name} asks for ${asked}`);
      }
    });

    test("Grafana finds Prometheus and our dashboards", async () => {
      const { datasources } = await read("infra/observe/grafana/provisioning/datasources/prometheus.yml");
      assert.ok(services[new URL(datasources[0].url).hostname]);
      const { providers } = await read("infra/observe/grafana/provisioning/dashboards/signalbox.yml");
      const boards = mountsOf(services.grafana).find(({ target }) => target === providers[0].options.path);
      assert.equal(boards?.source, "./infra/observe/grafana/dashboards");
      const home = services.grafana?.environment?.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH ?? "";
      assert.ok(existsSync(home.replace(providers[0].options.path, at(boards.source))), home);
    });

    test("a distribution leads to traces, at the address of the house's store", async () => {
      const { datasources } = await read("infra/observe/grafana/provisioning/datasources/prometheus.yml");
      const [{ name, url }] = datasources[0].jsonData.exemplarTraceIdDestinations;
      assert.equal(name, "trace_id", "the label that services give their exemplars");
      const [, variable = ""] = /^\$([A-Z_]+)\$\$\{__value\.raw\}$/.exec(url) ?? [];
      assert.match(services.grafana?.environment?.[variable] ?? "", /^\$\{TRACES_URL:-http.*\/\}$/);
      const { panels } = await read("infra/observe/grafana/dashboards/signalbox-service.json");
      const targets: { expr: string; exemplar?: boolean }[] = panels.flatMap(
        (one: { targets?: [] }) => one.targets ?? [],
      );
      for (const { expr, exemplar } of targets) assert.equal(exemplar ?? false, expr.includes("_bucket"), expr);
      assert.ok(targets.some(({ exemplar }) => exemplar));
    });

    test("the mounted files exist", () => {
      for (const { source } of Object.values(services).flatMap(mountsOf))
        if (source.startsWith("./")) assert.ok(existsSync(at(source)), source);
    });

    test("no container is reachable from outside of this machine", () => {
      for (const [name, { ports = [] }] of Object.entries(services))
        for (const port of ports) assert.match(port, /^127\.0\.0\.1:/, name);
    });

    test("`docker compose up` alone starts none of it", () => {
      const observers = Object.keys(services).filter((name) => services[name]?.profiles?.includes("observe"));
      const wanted = ["alertmanager", "grafana", "probe", "prometheus", ...exporters];
      assert.deepEqual(observers.toSorted(), wanted.toSorted());
      for (const name of wanted) assert.match(services[name]?.mem_limit ?? "", /^\d+[mg]$/, name);
    });
  });
}

function mountsOf(container: Container | undefined): { source: string; target: string }[] {
  return (container?.volumes ?? []).map((text) => {
    const [source = "", target = ""] = text.split(":");
    return { source, target };
  });
}

describe("what every deployment shares", () => {
  test("every alert has a receiver: pager, tickets or watchdog", async () => {
    const { route, receivers } = await read("infra/observe/alertmanager/alertmanager.yml");
    const config = at("infra/observe/alertmanager/alertmanager.yml");
    await run("amtool", ["check-config", config]);
    const receiverOf = async (...labels: string[]) =>
      (await run("amtool", ["config", "routes", "test", `--config.file=${config}`, ...labels])).stdout.trim();
    assert.equal(await receiverOf("alertname=OutboxStuck", "severity=page"), "pager");
    assert.equal(await receiverOf("alertname=DeadLetters", "severity=ticket"), "tickets");
    assert.equal(await receiverOf("alertname=Watchdog", "severity=none"), "watchdog");
    assert.equal(route.receiver, receivers[1].name);
  });

  test("the collector's pipelines consist of its own parts, and it refuses data before its container would be killed", async () => {
    const { services } = await read("docker-compose.yml");
    const { service: running, ...parts } = await read("infra/observe/collector/collector.yml");
    for (const pipeline of Object.values<Record<string, string[]>>(running.pipelines))
      for (const [kind, names] of Object.entries(pipeline))
        for (const name of names) assert.ok(parts[kind][name], `${kind} has ${name}`);
    assert.ok(parts.processors.memory_limiter.limit_mib < Number.parseInt(services.collector.mem_limit, 10));
  });

  test("nginx sends its lines to the address of the exporter, which runs with the edge", async () => {
    const [, address = "", port] =
      /access_log syslog:server=([\d.]+):(\d+),/.exec(await readFile(at("infra/edge/nginx.conf"), "utf8")) ?? [];
    const { services } = await read("docker-compose.yml");
    assert.deepEqual(services["edge-exporter"].networks, { inside: { ipv4_address: address } });
    assert.deepEqual([port, services["edge-exporter"].profiles], ["5514", undefined]);
  });
});
