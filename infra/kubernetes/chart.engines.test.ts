import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { serviceNames } from "@signalbox/core";
import { stringify } from "yaml";
import { edgeRoutes, serviceOf } from "../edge/edge-routes.ts";
import { repositoryFolder } from "../engines/engine-folders.ts";
import { schemaProblems } from "./test/kubeconform.ts";
import {
  chart,
  exampleFile,
  kubeVersion,
  type Manifest,
  manifestsIn,
  podTemplateOf,
  renderChart,
  runHelm,
} from "./test/render-chart.ts";

let folder = "";
/** Each service and each job reads a secret of its own. */
const secretReaders = [...serviceNames, "migrate", "topics", "backup"];
/** All that the values can switch on. */
const everything = {
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
};

/** Writes a text into a file of the scratch folder, and returns its path. */
async function fileOf(text: string): Promise<string> {
  const file = join(folder, "file.yaml");
  await writeFile(file, text);
  return file;
}
const render = async (values: object): Promise<Manifest[]> =>
  manifestsIn(await renderChart(await fileOf(stringify(values))));
const find = (manifests: readonly Manifest[], kind: string, name = "signalbox"): Manifest =>
  manifests.find((one) => one.kind === kind && one.metadata.name === name) ?? assert.fail(`no ${kind} ${name}`);

describe("the chart", () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "signalbox-chart-"));
  });
  after(() => rm(folder, { recursive: true }));

  for (const [what, textOf] of [
    ["the example production", () => renderChart(exampleFile("production"))],
    ["the example local", () => renderChart(exampleFile("local"))],
    ["the secrets of the example local", () => readFile(exampleFile("local-secrets"), "utf8")],
    ["all values together", async () => renderChart(await fileOf(stringify(everything)))],
    ["PostgreSQL by CloudNativePG", () => readFile(join(repositoryFolder, "k8s/engines/cloudnative-pg.yaml"), "utf8")],
  ] as const) {
    test(`Kubernetes accepts the manifests of ${what}`, async () => {
      assert.equal(await schemaProblems(await fileOf(await textOf())), "");
    });
  }

  test("Kubernetes refuses an unknown member of a manifest", async () => {
    const wrong = "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: x }\nspec: { replica: 1 }\n";
    assert.match(await schemaProblems(await fileOf(wrong)), /replica/);
  });

  test("Helm finds nothing to complain about", async () => {
    assert.match(await runHelm("lint", "--strict", kubeVersion, chart), /0 chart\(s\) failed/);
  });

  test("the values of pods reach every pod", async () => {
    const templates = (await render(everything)).map(podTemplateOf).filter(Boolean);
    assert.equal(templates.length, serviceNames.length + 3);
    for (const { metadata, spec } of templates) {
      assert.equal(spec.containers[0].image, `registry.example/signalbox@${everything.image.digest}`);
      assert.equal(metadata.annotations.team, "on-call");
      for (const member of ["nodeSelector", "priorityClassName", "tolerations", "affinity"] as const)
        assert.deepEqual(spec[member], everything.pods[member]);
      assert.deepEqual(spec.imagePullSecrets, everything.image.pullSecrets);
    }
  });

  test("Ingress and Gateway API have the routes of the edge", async () => {
    const manifests = await render(everything);
    const [{ host, http }] = find(manifests, "Ingress").spec.rules;
    assert.equal(host, everything.host);
    const byIngress = http.paths.map(
      ({ path, pathType, backend }: Manifest) => `${path} ${pathType} ${backend.service.name}`,
    );
    const byGateway = manifests
      .filter(({ kind }) => kind === "HTTPRoute")
      .flatMap(({ spec: { hostnames, rules } }) => {
        assert.deepEqual(hostnames, [everything.host]);
        const [{ matches, backendRefs }] = rules;
        return matches.map(({ path }: Manifest) => `${path.value} ${path.type} ${backendRefs[0].name}`);
      });
    const routes = (prefix: string) =>
      edgeRoutes.map((route) => `${route.prefix} ${route.exact ? "Exact" : prefix} ${route.service}`).sort();
    assert.deepEqual(byIngress.sort(), routes("Prefix"));
    assert.deepEqual(byGateway.sort(), routes("PathPrefix"));
  });

  test("the probe asks for every area behind the edge, under the name that the alerts know", async () => {
    const { spec } = find(await render(everything), "Probe");
    assert.equal(spec.jobName, "probe");
    const areas = spec.targets.staticConfig.static.map((url: string) => serviceOf(new URL(url).pathname));
    assert.deepEqual(areas.sort(), serviceNames.filter((name) => name !== "image-worker").toSorted());
  });

  test("every service and job has its secret from the vault", async () => {
    const secrets = (await render(everything)).filter(({ kind }) => kind === "ExternalSecret");
    assert.deepEqual(secrets.map(({ metadata }) => metadata.name).sort(), secretReaders.toSorted());
    for (const { metadata, spec } of secrets)
      assert.deepEqual(spec.dataFrom, [{ extract: { key: `signalbox/${metadata.name}` } }]);
  });

  test("a changed property begins the pods anew", async () => {
    const checksumOf = async (configuration: object) =>
      find(await render({ configuration }), "Deployment", "account").spec.template.metadata.annotations[
        "checksum/configuration"
      ];
    assert.notEqual(await checksumOf({}), await checksumOf({ SIGNALBOX_LOG_LEVEL: "debug" }));
  });

  test("an engine outside of the cluster is reached at its address", async () => {
    const way = { to: [{ ipBlock: { cidr: "10.9.0.5/32" } }], ports: [{ protocol: "TCP", port: 6432 }] };
    const policies = await render({ networkPolicies: { engines: { postgres: way } } });
    assert.deepEqual(find(policies, "NetworkPolicy", "migrate").spec.egress, [way]);
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

  test("its notes name the secrets that pods wait for, with the commands that follow", async () => {
    // Helm shows notes only where it installs; here a template shows them.
    const copy = join(folder, "chart");
    await cp(chart, copy, { recursive: true });
    await rename(join(copy, "templates/NOTES.txt"), join(copy, "notes.txt"));
    await writeFile(join(copy, "templates/notes.yaml"), 'notes: {{ tpl (.Files.Get "notes.txt") . | quote }}\n');
    const shown = ["--set", "backup.enabled=true", "--show-only", "templates/notes.yaml", kubeVersion];
    const [{ notes: lines }] = manifestsIn(await runHelm("template", "signalbox", copy, ...shown));
    for (const secret of secretReaders) assert.match(lines, new RegExp(`\\b${secret}\\b`));
    assert.match(lines, /pod-security\.kubernetes\.io\/enforce=restricted/);
    assert.match(lines, /job\/migrate-1 job\/topics-1/);
  });
});
