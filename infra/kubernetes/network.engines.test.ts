import assert from "node:assert/strict";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { serviceNames } from "@signalbox/core";
import { parseAllDocuments } from "yaml";
import { repositoryFolder } from "../engines/engine-folders.ts";
import { packageProperties } from "../generate/package-properties.ts";
import { chartFolder } from "./chart/chart-files.ts";
import { networkEdges } from "./network-page.ts";
import { fetchHelm, kubeVersion, runHelm } from "./tools/helm.ts";
import { buildOverlay, fetchKubernetesTools } from "./tools/kubernetes-tools.ts";
import { podRefusals } from "./tools/pod-security.ts";
import { fetchReachability, reachability, type Way } from "./tools/reachability.ts";

// biome-ignore lint/suspicious/noExplicitAny: manifests are looked at by path; their shape is what the schemas check.
type Manifest = any;

const engines = ["postgres", "kafka", "redis", "blobs", "collector"];
const renderings: Readonly<Record<string, () => Promise<string>>> = {
  kustomize: () => buildOverlay("production"),
  chart: () =>
    runHelm(
      ...["template", "signalbox", join(repositoryFolder, chartFolder), "--namespace", "signalbox", kubeVersion],
      ...["--values", join(repositoryFolder, chartFolder, "examples/production.yaml")],
    ),
};
const rendered = new Map<string, readonly Manifest[]>();
const ways = new Map<string, ReadonlySet<string>>();

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

function edgeText({ from, to, ports }: ReturnType<typeof networkEdges>[number]): string {
  const target =
    { "DNS of the cluster": "dns", "public addresses": "addresses" }[to] ?? to.replace("engine ", "engine-");
  if (ports === "any") return `${from} > ${target} any any`;
  const [first = 0, second] = [...ports].sort((a, b) => a - b);
  const text = second === undefined ? `${first}` : second === first + 1 ? `${first}-${second}` : `${first},${second}`;
  return `${from} > ${target} ${target === "dns" ? "TCP, UDP" : "TCP"} ${text}`;
}

describe("pods and the ways between them", () => {
  before(async () => {
    await Promise.all([fetchKubernetesTools(), fetchReachability()]);
    await fetchHelm();
    for (const [name, render] of Object.entries(renderings)) {
      const manifests: Manifest[] = parseAllDocuments(await render())
        .map((one) => one.toJS())
        .filter((one) => one && one.kind !== "Namespace");
      rendered.set(name, manifests);
      const kinds = ["Deployment", "Job", "CronJob", "NetworkPolicy"];
      const ours = manifests.filter(({ kind }) => kinds.includes(kind));
      const allowed = (await reachability([...ours, ...surroundings()])).filter(concernsUs);
      ways.set(name, new Set(allowed.map(wayText)));
    }
  });

  for (const rendering of Object.keys(renderings)) {
    test(`${rendering}: the policies open the ways of the page, and no other`, () => {
      // A pod of somebody else in the namespace may ask for names, and nothing more.
      const wanted = [...networkEdges().map(edgeText), "neighbour > dns TCP, UDP 53"];
      assert.deepEqual([...(ways.get(rendering) ?? [])].sort(), [...new Set(wanted)].sort());
    });

    test(`${rendering}: a service reaches what its properties can name, and is reached by nobody else inside`, async () => {
      const packages = await packageProperties();
      for (const service of serviceNames) {
        const declared = packages.find(({ kind, name }) => kind === "service" && name === service)?.properties ?? {};
        const needed = Object.keys(declared).flatMap(targetOf);
        const open = [...(ways.get(rendering) ?? [])]
          .filter((way) => way.startsWith(`${service} > `))
          .map((way) => way.split(" ")[2])
          .filter((target) => target !== "dns" && target !== "addresses");
        assert.deepEqual(open.sort(), needed.sort(), service);
      }
    });

    test(`${rendering}: Kubernetes lets every pod into a namespace of the profile restricted`, async () => {
      const pods = (rendered.get(rendering) ?? []).flatMap(({ kind, metadata, spec }) => {
        const template = spec?.jobTemplate?.spec.template ?? spec?.template;
        return template?.spec?.containers ? [{ name: `${kind} ${metadata.name}`, ...template }] : [];
      });
      assert.equal(pods.length, serviceNames.length + 3);
      assert.equal(await podRefusals(pods), "");
      const asRoot = structuredClone(pods[0]) as Manifest;
      asRoot.spec.securityContext.runAsNonRoot = false;
      asRoot.spec.containers[0].securityContext.capabilities = { add: ["SYS_ADMIN"] };
      assert.match(await podRefusals([asRoot]), /runAsNonRoot.*|capabilities/, "a wrong one is refused");
    });
  }
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
