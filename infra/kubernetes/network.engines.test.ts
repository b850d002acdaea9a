import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { serviceNames } from "@signalbox/core";
import { repositoryFolder } from "../engines/engine-folders.ts";
import { packageProperties } from "../generate/package-properties.ts";
import { podRefusals } from "./test/pod-security.ts";
import { fetchReachability, reachability, type Way } from "./test/reachability.ts";
import { exampleFile, type Manifest, manifestsIn, podTemplateOf, renderChart } from "./test/render-chart.ts";

const engines = ["postgres", "kafka", "redis", "blobs", "collector"];
let manifests: readonly Manifest[] = [];
/** The ways that the policies open, as texts. */
let ways: ReadonlySet<string> = new Set();

/** The pods and namespaces around ours, and a stranger in each. */
function surroundings(): object[] {
  const namespace = (name: string, labels: object = {}) => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels: { "kubernetes.io/metadata.name": name, ...labels } },
  });
  const pod = (place: string, name: string, labels: object = {}) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: place, labels },
    spec: { containers: [{ name, image: name }] },
  });
  return [
    namespace("signalbox"),
    namespace("ingress", { "signalbox.edge": "true" }),
    namespace("prometheus", { "signalbox.monitoring": "true" }),
    namespace("engines"),
    namespace("kube-system"),
    namespace("others"),
    pod("ingress", "edge"),
    pod("prometheus", "monitoring"),
    pod("kube-system", "dns", { "k8s-app": "kube-dns" }),
    pod("kube-system", "stranger-of-the-system"),
    pod("others", "stranger"),
    pod("signalbox", "neighbour", { app: "neighbour" }),
    pod("engines", "stranger-of-engines"),
    ...engines.map((role) => pod("engines", `engine-${role}`, { "signalbox.engine": role })),
  ];
}

/** Names a way between one of our pods and another one: `account > engine-redis TCP 6379`. */
function wayText({ from, to, protocols, ports }: Way): string {
  const nameOf = (peer: string) =>
    peer.includes("/") && !/^[0-9:]/.test(peer) ? peer.replace(/^.*\//, "").replace(/(-1)+$/, "") : "addresses";
  return `${nameOf(from)} > ${nameOf(to)} ${protocols} ${ports.replace("ports ", "")}`;
}
const concernsUs = ({ from, to }: Way) => [from, to].some((peer) => peer.startsWith("signalbox/"));

/** Lists the ways of the page: a row for each pod, and a row with the ports of each column or engine. */
async function waysOfPage(): Promise<string[]> {
  const page = await readFile(join(repositoryFolder, "docs/reference/network.md"), "utf8");
  const [pods = [], ends = []] = page
    .split("\n\n")
    .filter((block) => block.startsWith("|"))
    .map((table) => table.split("\n").slice(2).map(cellsOf));
  const ports = new Map(ends.map(([end = "", list = ""]) => [end, portsText(list)]));
  const way = (from: string, to: string, end: string) =>
    `${from} > ${to} ${end === "dns" ? "TCP, UDP" : "TCP"} ${ports.get(end)}`;
  return pods.flatMap(([pod = "", edge, monitoring, calls = "", reached = "", outside]) => [
    ...(edge ? [way("edge", pod, "edge")] : []),
    ...(monitoring ? [way("monitoring", pod, "monitoring")] : []),
    ...namesIn(calls).map((callee) => way(pod, callee, "calls")),
    ...namesIn(reached).map((engine) => way(pod, `engine-${engine}`, engine)),
    ...(outside ? [`${pod} > addresses any any`] : []),
    way(pod, "dns", "dns"),
  ]);
}
const cellsOf = (row: string) =>
  row
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
const namesIn = (cell: string) => cell.split(", ").filter(Boolean);

/** Writes ports like the analyzer: in order, neighbours as a range. */
function portsText(list: string): string {
  const [first = 0, second] = list
    .split(", ")
    .map(Number)
    .sort((a, b) => a - b);
  if (second === undefined) return `${first}`;
  return second === first + 1 ? `${first}-${second}` : `${first},${second}`;
}

describe("pods and the ways between them", () => {
  before(async () => {
    await fetchReachability();
    manifests = manifestsIn(await renderChart(exampleFile("production")));
    const kinds = ["Deployment", "Job", "CronJob", "NetworkPolicy"];
    const ours = manifests.filter(({ kind }) => kinds.includes(kind));
    ways = new Set((await reachability([...ours, ...surroundings()])).filter(concernsUs).map(wayText));
  });

  test("the policies open no way but those of the page", async () => {
    // A pod of somebody else in the namespace may ask for names, and nothing more.
    const wanted = [...(await waysOfPage()), "neighbour > dns TCP, UDP 53"];
    assert.deepEqual([...ways].sort(), wanted.sort());
  });

  test("a service reaches only what its properties can name", async () => {
    const packages = await packageProperties();
    for (const service of serviceNames) {
      const declared = packages.find(({ kind, name }) => kind === "service" && name === service)?.properties ?? {};
      const needed = Object.keys(declared).flatMap(targetOf);
      const open = [...ways]
        .filter((way) => way.startsWith(`${service} > `))
        .map((way) => way.split(" ")[2])
        .filter((target) => target !== "dns" && target !== "addresses");
      assert.deepEqual(open.sort(), needed.sort(), service);
    }
  });

  test("Kubernetes lets every pod into a namespace of the profile restricted", async () => {
    const pods = manifests.flatMap((manifest) => {
      const template = podTemplateOf(manifest);
      return template ? [{ name: `${manifest.kind} ${manifest.metadata.name}`, ...template }] : [];
    });
    assert.equal(pods.length, serviceNames.length + 3);
    assert.equal(await podRefusals(pods), "");
    const asRoot = structuredClone(pods[0]) as Manifest;
    asRoot.spec.securityContext.runAsNonRoot = false;
    asRoot.spec.containers[0].securityContext.capabilities = { add: ["SYS_ADMIN"] };
    assert.match(await podRefusals([asRoot]), /runAsNonRoot.*|capabilities/, "a wrong one is refused");
  });
});

/** The peer that a property names the address of. */
function targetOf(property: string): string[] {
  const engine = {
    "database.url": "postgres",
    "events.url": "kafka",
    "cache.url": "redis",
    "blobs.url": "blobs",
    "telemetry.otlp-endpoint": "collector",
  }[property];
  if (engine !== undefined) return [`engine-${engine}`];
  const callee = /^(.+)\.internal-url$/.exec(property)?.[1];
  return callee === undefined ? [] : [callee];
}
