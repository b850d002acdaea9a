import assert from "node:assert/strict";
import { cp, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { parseAllDocuments, stringify } from "yaml";
import { repositoryFolder } from "../../engines/engine-folders.ts";
import { secretReaders } from "../external-secrets.ts";
import { fetchHelm, kubeVersion, runHelm } from "../tools/helm.ts";
import { buildOverlay, fetchKubernetesTools, schemaProblems } from "../tools/kubernetes-tools.ts";
import { chartFolder } from "./chart-files.ts";

// biome-ignore lint/suspicious/noExplicitAny: manifests are looked at by path; their shape is what the schemas check.
type Manifest = any;

const chart = join(repositoryFolder, chartFolder);
const release = ["signalbox", chart, "--namespace", "signalbox", kubeVersion];
let folder = "";

/** Renders the chart with values, as text. */
async function render(values: object): Promise<string> {
  const file = join(folder, "values.yaml");
  await writeFile(file, stringify(values));
  return await runHelm("template", ...release, "--values", file);
}

const manifestsOf = (text: string): Manifest[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS())
    .filter((manifest) => manifest !== null);
const keyOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;

/**
 * Takes away where the chart differs from Kustomize on purpose: jobs carry the revision, pods a checksum of their properties, and
 * the way to pull an image stands there although it is the default.
 */
function withoutHelms(manifest: Manifest): Manifest {
  const copy = structuredClone(manifest);
  if (copy.kind === "Job") copy.metadata.name = copy.metadata.name.replace(/-1$/, "");
  const template = copy.spec?.jobTemplate?.spec.template ?? copy.spec?.template;
  if (!template?.spec?.containers) return copy;
  if (copy.kind === "Deployment") {
    assert.match(template.metadata.annotations["checksum/configuration"], /^[0-9a-f]{64}$/);
    delete template.metadata.annotations["checksum/configuration"];
    if (Object.keys(template.metadata.annotations).length === 0) delete template.metadata.annotations;
  }
  for (const container of template.spec.containers) {
    assert.equal(container.imagePullPolicy, "IfNotPresent");
    delete container.imagePullPolicy;
  }
  return copy;
}

/** Compares the objects of the chart with those of an overlay, one by one. */
async function isSameAs(overlay: string, rendered: string, without: readonly string[]): Promise<void> {
  const byChart = new Map(
    manifestsOf(rendered)
      .map(withoutHelms)
      .map((one) => [keyOf(one), one]),
  );
  const byKustomize = new Map(
    manifestsOf(await buildOverlay(overlay))
      .filter(({ kind }) => !without.includes(kind))
      .map((one) => [keyOf(one), one]),
  );
  assert.deepEqual([...byChart.keys()].sort(), [...byKustomize.keys()].sort());
  for (const [key, wanted] of byKustomize) assert.deepEqual(byChart.get(key), wanted, key);
}

describe("the chart", () => {
  before(async () => {
    await Promise.all([fetchKubernetesTools(), fetchHelm()]);
    folder = await mkdtemp(join(tmpdir(), "signalbox-chart-"));
  });
  after(() => rm(folder, { recursive: true }));

  test("its example of a house has the objects of the overlay production, each the same", async () => {
    const example = join(chart, "examples/production.yaml");
    // Helm makes the namespace; its label is set by a command of the notes.
    await isSameAs("production", await runHelm("template", ...release, "--values", example), ["Namespace"]);
  });

  test("with one replica of each it has the objects of the overlay local, each the same", async () => {
    const services = manifestsOf(await buildOverlay("local")).filter(({ kind }) => kind === "Deployment");
    const values = {
      image: { repository: "localhost/signalbox", tag: "0.0.0-test" },
      services: Object.fromEntries(services.map((one) => [one.metadata.name, { replicas: { min: 1, max: 1 } }])),
    };
    await isSameAs("local", await render(values), ["Namespace", "Secret"]);
  });

  test("Helm finds nothing to complain about, and Kubernetes accepts what all values together render", async () => {
    assert.match(await runHelm("lint", "--strict", kubeVersion, chart), /0 chart\(s\) failed/);
    const everything = await render({
      host: "signalbox.example",
      image: { digest: `sha256:${"0".repeat(64)}`, pullSecrets: [{ name: "registry" }] },
      pods: {
        annotations: { team: "on-call" },
        nodeSelector: { pool: "signalbox" },
        tolerations: [{ key: "dedicated", operator: "Exists" }],
        affinity: { nodeAffinity: {} },
        priorityClassName: "important",
      },
      gatewayApi: { enabled: true },
      externalSecrets: { enabled: true },
      ingress: { enabled: true },
      serviceMonitor: { enabled: true },
      keda: { enabled: true },
      backup: { enabled: true, storageClassName: "slow" },
    });
    const file = join(folder, "everything.yaml");
    await writeFile(file, everything);
    assert.equal(await schemaProblems(file), "");
    for (const { kind, spec } of manifestsOf(everything)) {
      const template = spec?.jobTemplate?.spec.template ?? spec?.template;
      if (!["Deployment", "Job", "CronJob"].includes(kind)) continue;
      assert.equal(template.spec.containers[0].image, `registry.example/signalbox@sha256:${"0".repeat(64)}`);
      assert.equal(template.metadata.annotations.team, "on-call");
      assert.deepEqual(template.spec.nodeSelector, { pool: "signalbox" });
      assert.equal(template.spec.priorityClassName, "important");
      assert.equal(template.spec.tolerations.length, 1);
      assert.deepEqual(template.spec.imagePullSecrets, [{ name: "registry" }]);
    }
  });

  test("a changed property begins the pods anew", async () => {
    const checksumOf = async (configuration: object) =>
      manifestsOf(await render({ configuration })).find(({ kind }) => kind === "Deployment").spec.template.metadata
        .annotations["checksum/configuration"];
    assert.notEqual(await checksumOf({}), await checksumOf({ SIGNALBOX_LOG_LEVEL: "debug" }));
  });

  test("an engine outside of the cluster is reached at its address", async () => {
    const way = { to: [{ ipBlock: { cidr: "10.9.0.5/32" } }], ports: [{ protocol: "TCP", port: 6432 }] };
    const policies = manifestsOf(await render({ networkPolicies: { engines: { postgres: way } } }));
    const { spec } = policies.find((one) => keyOf(one) === "NetworkPolicy migrate");
    assert.deepEqual(spec.egress, [way]);
  });

  for (const [what, values, message] of [
    ["an unknown value", { replicas: 3 }, /'replicas' not allowed/],
    ["an unknown service", { services: { acount: {} } }, /'acount' not allowed/],
    ["a property of somebody else", { configuration: { NODE_OPTIONS: "x" } }, /NODE_OPTIONS/],
    ["an entrance without a host", { ingress: { enabled: true } }, /host is missing/],
    ["bounds the wrong way round", { services: { config: { replicas: { min: 4 } } } }, /config.replicas: min is more/],
  ] as const) {
    test(`${what} is refused by name`, async () => {
      await assert.rejects(render(values), message);
    });
  }

  test("its notes name the secrets that pods wait for, and the commands that follow", async () => {
    // Helm shows notes only where it installs; here a template shows them.
    const copy = join(folder, "chart");
    await cp(chart, copy, { recursive: true });
    await rename(join(copy, "templates/NOTES.txt"), join(copy, "notes.txt"));
    await writeFile(join(copy, "templates/notes.yaml"), 'notes: {{ tpl (.Files.Get "notes.txt") . | quote }}\n');
    const shown = ["--set", "backup.enabled=true", "--show-only", "templates/notes.yaml", kubeVersion];
    const [{ notes: lines }] = manifestsOf(await runHelm("template", "signalbox", copy, ...shown));
    for (const secret of secretReaders) assert.match(lines, new RegExp(`\\b${secret}\\b`));
    assert.match(lines, /pod-security\.kubernetes\.io\/enforce=restricted/);
    assert.match(lines, /job\/migrate-1 job\/topics-1/);
  });
});
