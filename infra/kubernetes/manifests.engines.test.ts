import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { promisify } from "node:util";
import { topicAccess } from "@signalbox/contracts";
import { serviceNames } from "@signalbox/core";
import { ConfigurationError, loadConfiguration, metricCatalogue } from "@signalbox/runtime";
import { parse, stringify } from "yaml";
import { repositoryFolder } from "../engines/engine-folders.ts";
import { packageProperties } from "../generate/package-properties.ts";
import { alerts, metricsIn } from "../observe/alerts/alerts.ts";
import { rulesFiles } from "../observe/alerts/rules-file.ts";
import { dashboards } from "../observe/dashboards.ts";
import { exampleFile, type Manifest, manifestsIn, renderChart } from "./test/render-chart.ts";

const run = promisify(execFile);

const examples = new Map<string, readonly Manifest[]>();
const of = (example: string, ...kinds: readonly string[]): readonly Manifest[] =>
  (examples.get(example) ?? []).filter(({ kind }) => kinds.includes(kind));
const named = (manifests: readonly Manifest[]): string[] => manifests.map(({ metadata }) => metadata.name).toSorted();
const selectorOf = (service: string) => ({ matchLabels: { "app.kubernetes.io/name": service } });
const readEngine = async (name: string): Promise<Manifest[]> =>
  manifestsIn(await readFile(join(repositoryFolder, `k8s/engines/${name}.yaml`), "utf8"));

describe("the examples of the chart", () => {
  before(async () => {
    for (const example of ["local", "production"])
      examples.set(example, manifestsIn(await renderChart(exampleFile(example))));
  });

  test("a service has a manifest of each kind", () => {
    const services = serviceNames.toSorted();
    for (const kind of ["Deployment", "Service", "PodDisruptionBudget"])
      assert.deepEqual(named(of("production", kind)), services, kind);
    assert.deepEqual(named(of("production", "HorizontalPodAutoscaler", "ScaledObject")), services);
    for (const kind of ["ServiceAccount", "NetworkPolicy"])
      for (const service of services) assert.ok(named(of("production", kind)).includes(service), `${kind} ${service}`);
  });

  test("one pod of a service at a time is evicted or rolled", () => {
    for (const { metadata, spec } of of("production", "Deployment")) {
      const selector = selectorOf(metadata.name);
      assert.deepEqual(spec.selector, selector);
      assert.equal(spec.template.metadata.labels["app.kubernetes.io/name"], metadata.name);
      assert.deepEqual(spec.strategy.rollingUpdate, { maxUnavailable: 0, maxSurge: 1 });
      const budget = of("production", "PodDisruptionBudget").find((one) => one.metadata.name === metadata.name);
      assert.deepEqual(budget.spec, { maxUnavailable: 1, selector });
      assert.ok(!("replicas" in spec), "its autoscaler alone says how many there are");
    }
  });

  test("the pods of a service are spread over nodes as over zones", () => {
    for (const { metadata, spec } of of("production", "Deployment"))
      assert.deepEqual(
        spec.template.spec.topologySpreadConstraints,
        ["kubernetes.io/hostname", "topology.kubernetes.io/zone"].map((topologyKey) => ({
          maxSkew: 1,
          topologyKey,
          whenUnsatisfiable: "ScheduleAnyway",
          labelSelector: selectorOf(metadata.name),
        })),
      );
  });

  test("every pod has the least privileges: no root, read-only, no rights, no token, bounded", () => {
    for (const { metadata, spec } of of("production", "Deployment", "Job", "CronJob")) {
      const pod = (spec.jobTemplate?.spec ?? spec).template.spec;
      assert.equal(pod.automountServiceAccountToken, false, metadata.name);
      assert.equal(pod.serviceAccountName, metadata.labels["app.kubernetes.io/name"]);
      assert.equal(pod.securityContext.runAsNonRoot, true, metadata.name);
      assert.deepEqual(pod.securityContext.seccompProfile, { type: "RuntimeDefault" });
      for (const { image, securityContext, resources } of pod.containers) {
        assert.match(image, /:\d/, "a version, not the latest");
        assert.deepEqual(securityContext, {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
        assert.ok(resources.limits.memory && resources.requests.memory && resources.requests.cpu, metadata.name);
        for (const kind of ["requests", "limits"]) assert.ok(resources[kind]["ephemeral-storage"], metadata.name);
      }
    }
  });

  test("by the line of the page the job of backups becomes one that restores", async () => {
    const page = await readFile(join(repositoryFolder, "docs/how-to/back-up-and-restore.md"), "utf8");
    const [, edit = ""] = /\| sed '([^']+)'/.exec(page) ?? [];
    const [job] = of("production", "CronJob");
    const { stdout } = await run("sh", ["-c", `printf '%s' "$1" | sed '${edit}'`, "sh", stringify(job)]);
    const [container] = parse(stdout).spec.jobTemplate.spec.template.spec.containers;
    assert.deepEqual(container.args, ["backup", "restore", "/backups/NAME"]);
    assert.equal(container.volumeMounts.at(-1).mountPath, "/backups");
  });

  test("a pod has probes for start, readiness, liveness", () => {
    const probes = { startupProbe: "startup", readinessProbe: "ready", livenessProbe: "live" };
    for (const { metadata, spec } of of("production", "Deployment")) {
      const [container] = spec.template.spec.containers;
      for (const [probe, kind] of Object.entries(probes)) {
        const wanted = { path: `/management/health/${kind}`, port: "management" };
        assert.deepEqual(container[probe].httpGet, wanted, metadata.name);
      }
    }
  });

  test("a pod has enough time to stop", () => {
    const common = of("production", "ConfigMap").find(({ metadata }) => metadata.name === "signalbox").data;
    const graceMs = Number(common.SIGNALBOX_SHUTDOWN_GRACE);
    assert.ok(graceMs >= 5_000, "proxies learn that a pod goes before it goes");
    for (const { metadata, spec } of of("production", "Deployment"))
      assert.ok(spec.template.spec.terminationGracePeriodSeconds * 1000 > graceMs + 25_000, metadata.name);
  });

  test("no traffic is allowed by default", () => {
    const deny = of("production", "NetworkPolicy").find(({ metadata }) => metadata.name === "default-deny").spec;
    assert.deepEqual(deny, { podSelector: {}, policyTypes: ["Ingress", "Egress"] });
  });

  test("outbound traffic never reaches an internal address", () => {
    const outside = of("production", "NetworkPolicy").filter(({ spec }) =>
      JSON.stringify(spec.egress ?? []).includes("ipBlock"),
    );
    assert.deepEqual(named(outside), ["account", "images", "webhook-delivery", "webhook-ingest"]);
    for (const { spec } of outside) {
      const [v4, v6] = spec.egress.at(-1).to;
      for (const block of [
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "169.254.0.0/16",
        "100.64.0.0/10",
        "127.0.0.0/8",
      ])
        assert.ok(v4.ipBlock.except.includes(block), block);
      for (const block of ["fc00::/7", "fe80::/10"]) assert.ok(v6.ipBlock.except.includes(block), block);
    }
  });

  test("a service starts with the settings of the example local", async () => {
    const packages = await packageProperties();
    const common = of("local", "ConfigMap").find(({ metadata }) => metadata.name === "signalbox").data;
    const secrets = manifestsIn(await readFile(exampleFile("local-secrets"), "utf8"));
    for (const service of serviceNames) {
      const secret = secrets.find(({ metadata }) => metadata.name === service);
      const declared = packages.find(({ kind, name }) => kind === "service" && name === service);
      const environment = { ...common, ...secret.stringData };
      const others = packages.flatMap(({ properties }) => Object.keys(properties));
      try {
        const properties = declared?.properties ?? {};
        loadConfiguration({ service, properties, argv: [], environment, directory: null, foreignNames: others });
      } catch (error) {
        if (!(error instanceof ConfigurationError)) throw error;
        assert.fail(`${service}: ${error.message}`);
      }
    }
  });

  test("KEDA finds the listener, topics, groups, rights, metrics that it asks for", async () => {
    const strimzi = await readEngine("strimzi");
    const kafka = strimzi.find(({ kind }) => kind === "Kafka");
    const listeners = kafka.spec.kafka.listeners.map(
      ({ port, tls, authentication }: Manifest) =>
        `${kafka.metadata.name}-kafka-bootstrap.signalbox.svc:${port} ${tls ? "enable" : "disable"} ${authentication.type}`,
    );
    const signIn = of("production", "ConfigMap").find(({ metadata }) => metadata.name === "keda-kafka").data;
    const mechanism = signIn.sasl.replaceAll("_", "-").replace("sha512", "sha-512");
    const users = named(strimzi.filter(({ kind }) => kind === "KafkaUser"));
    assert.ok(users.includes(signIn.username), signIn.username);
    // The operators of Strimzi keep both under these names, in the namespace of all of it.
    const [{ spec: signInBy }] = of("production", "TriggerAuthentication");
    assert.deepEqual(signInBy.secretTargetRef, [
      { parameter: "password", name: signIn.username, key: "password" },
      { parameter: "ca", name: `${kafka.metadata.name}-cluster-ca-cert`, key: "ca.crt" },
    ]);
    const [{ networkPolicyPeers }] = kafka.spec.kafka.listeners;
    const kedaMayCall = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "keda" } } };
    assert.deepEqual(networkPolicyPeers[1], kedaMayCall, "the listener is open for KEDA");
    const scaled = of("production", "ScaledObject");
    for (const { metadata, spec } of scaled) {
      assert.ok(spec.fallback.replicas >= spec.minReplicaCount, metadata.name);
      for (const { type, metadata: asked } of spec.triggers) {
        if (type === "kafka") {
          assert.ok(listeners.includes(`${asked.bootstrapServers} ${signIn.tls} ${mechanism}`), asked.bootstrapServers);
          const access = topicAccess.find(({ service }) => service === metadata.name);
          assert.ok(access?.reads.includes(asked.topic), `${metadata.name} reads ${asked.topic}`);
          assert.ok(asked.consumerGroup.startsWith(`${metadata.name}.`), asked.consumerGroup);
        }
        if (type === "prometheus")
          for (const metric of metricsIn(asked.query)) assert.ok(metric in metricCatalogue, metric);
      }
    }
    const byProcessorTime = named(of("production", "HorizontalPodAutoscaler"));
    for (const name of named(scaled)) assert.ok(!byProcessorTime.includes(name), `${name} is scaled by one of them`);
    assert.deepEqual(named(of("local", "HorizontalPodAutoscaler")), serviceNames.toSorted(), "without KEDA");
  });

  test("the alerts about Kafka find the exporter that Strimzi starts", async () => {
    const strimzi = await readEngine("strimzi");
    const { metadata, spec } = strimzi.find(({ kind }) => kind === "Kafka");
    assert.ok(spec.kafkaExporter, "Strimzi starts an exporter where it is wanted");
    const pods = { matchLabels: { "strimzi.io/name": `${metadata.name}-kafka-exporter` } };
    const [policy] = strimzi.filter((one) => one.kind === "NetworkPolicy" && one.metadata.name === "kafka-exporter");
    assert.deepEqual(policy.spec.podSelector, pods);
    const monitor = of("production", "PodMonitor").find((one) => one.metadata.name === "kafka");
    assert.deepEqual(monitor.spec.selector, pods);
    const [{ relabelings }] = monitor.spec.podMetricsEndpoints;
    const asked = alerts.filter(({ name }) => ["ReplicasOutOfSync", "PartitionsOffline"].includes(name));
    for (const { expr } of asked) assert.ok(expr.includes(`{job="${relabelings[0].replacement}"}`), expr);
    assert.equal(asked.length, 2);
  });

  test("the alerts about PostgreSQL find the servers of CloudNativePG", async () => {
    const [cluster, policy] = await readEngine("cloudnative-pg");
    const monitor = of("production", "PodMonitor").find((one) => one.metadata.name === "postgres");
    assert.deepEqual(monitor.spec.selector, { matchLabels: { "cnpg.io/cluster": cluster.metadata.name } });
    assert.ok(policy.spec.ingress.some(({ ports }: Manifest) => ports.some(({ port }: Manifest) => port === 9187)));
    const [{ relabelings }] = monitor.spec.podMetricsEndpoints;
    const asked = alerts.filter(({ expr }) => expr.includes(`cnpg_`));
    assert.equal(asked.length, 4);
    for (const { expr } of asked) assert.ok(expr.includes(`{job="${relabelings[0].replacement}"`), expr);
  });

  test("a cluster gets all alerts, all dashboards", async () => {
    const [rule] = of("production", "PrometheusRule");
    const files = Object.values(rulesFiles()).map((text) => parse(text));
    assert.deepEqual(rule.spec, { groups: files.flatMap(({ groups }) => groups) });
    const shown = of("production", "ConfigMap").filter(({ metadata }) => metadata.labels?.grafana_dashboard === "1");
    assert.deepEqual(named(shown), dashboards.map(({ uid }) => uid).toSorted());
    for (const { data } of shown) for (const text of Object.values<string>(data)) JSON.parse(text);
  });

  test("the connections of the largest number of replicas fit into the database", async () => {
    const packages = await packageProperties();
    const perReplica = packages.find(({ name }) => name === "storage")?.properties["database.pool.max"]
      ?.default as number;
    // One more for the lock that shows that the instance is alive.
    const most = of("production", "HorizontalPodAutoscaler", "ScaledObject")
      .filter(({ metadata }) => !["gateway", "image-worker"].includes(metadata.name))
      .map(({ spec }) => (spec.maxReplicas ?? spec.maxReplicaCount) * (perReplica + 1))
      .reduce((sum, one) => sum + one, 0);
    const [cluster] = await readEngine("cloudnative-pg");
    const allowed = Number(cluster.spec.postgresql.parameters.max_connections);
    assert.ok(most <= allowed * 0.9, `${most} connections of ${allowed}`);
  });
});
