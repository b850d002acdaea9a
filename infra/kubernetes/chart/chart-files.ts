import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Document, isMap, isScalar, type Pair, stringify, type YAMLMap } from "yaml";
import { z } from "zod";
import { root } from "../../generate/repository.ts";
import { chartTemplates } from "./chart-templates.ts";
import { chartValues } from "./chart-values.ts";
import { yamlOptions } from "./template-yaml.ts";

export const chartFolder = "k8s/chart";

/** Builds the Helm chart, by the paths of its files. */
export async function chartFiles(): Promise<ReadonlyMap<string, string>> {
  const values = await chartValues();
  const schema = z.toJSONSchema(values, { target: "draft-7", io: "input" }) as Schema;
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const yaml = valuesFile(values.parse({}), schema);
  return new Map(
    [
      ["Chart.yaml", chartFile(version)],
      ["values.yaml", yaml],
      ["values.schema.json", `${JSON.stringify(schema, null, 2)}\n`],
      ["README.md", readme(schema)],
      ["templates/NOTES.txt", notes],
      ...[...(await chartTemplates())].map(([name, text]) => [
        `templates/${name}`,
        `${generated("{{- /* ", " */}}")}${text}`,
      ]),
    ].map(([path, text]) => [`${chartFolder}/${path}`, text] as [string, string]),
  );
}

interface Schema {
  readonly description?: string;
  readonly type?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
}

const generated = (open: string, close = "") =>
  `${open}Generated from infra/kubernetes by \`npm run generate\`.${close}\n`;

const chartFile = (version: string): string =>
  `${generated("# ")}${stringify(
    {
      apiVersion: "v2",
      name: "signalbox",
      description: "Event-driven backend: accounts, images, settings, webhooks in and out, and one graph over them",
      type: "application",
      version,
      appVersion: version,
      kubeVersion: ">=1.30.0-0",
      annotations: { "artifacthub.io/license": "Apache-2.0" },
    },
    yamlOptions,
  )}`;

/** Writes the defaults with the descriptions of the schema above them. */
function valuesFile(defaults: object, schema: Schema): string {
  const document = new Document(defaults, yamlOptions);
  describe(document.contents, schema);
  return `${generated("# ")}# What each value may be is in values.schema.json; Helm refuses others.\n${document.toString(yamlOptions)}`;
}

function describe(node: unknown, schema: Schema, depth = 0): void {
  if (!isMap(node)) return;
  for (const [index, pair] of (node as YAMLMap).items.entries()) {
    const { key, value } = pair as Pair;
    const known = isScalar(key) ? schema.properties?.[String(key.value)] : undefined;
    if (!known || !isScalar(key)) continue;
    if (known.description) key.commentBefore = ` ${known.description}`;
    key.spaceBefore = depth === 0 && index > 0;
    describe(value, known, depth + 1);
  }
}

/** Lists the values with their defaults; those of all services look alike, so the first one stands for them. */
function readme(schema: Schema): string {
  const rows = rowsOf("", schema).filter(({ path }) => !/^services\.(?!account\b)./.test(path));
  const table = rows.map(
    ({ path, initial, what }) =>
      `| \`${path.replace("services.account", "services.<name>")}\` | ${initial} | ${what} |\n`,
  );
  return `# Chart of Signalbox

The same objects as \`k8s/base\` with the components that your values switch on; a test compares them one by one. Names are fixed, so a
namespace has one release. Engines are not part of it: it reaches PostgreSQL, Kafka, Redis and a store of blobs at the addresses in your
secrets. How it is installed, upgraded and rolled back is in [deploy](../../docs/how-to/deploy.md#helm) and [upgrade](../../docs/how-to/upgrade.md).
[examples/production.yaml](examples/production.yaml) is a house with a vault, an Ingress controller, Prometheus, KEDA and backups.

| value | default | |
|---|---|---|
${table.join("")}`;
}

function rowsOf(prefix: string, { properties = {} }: Schema): { path: string; initial: string; what: string }[] {
  return Object.entries(properties).flatMap(([name, one]) => {
    const path = `${prefix}${name}`;
    if (
      one.properties &&
      one.type === "object" &&
      name !== "resources" &&
      name !== "dns" &&
      !prefix.endsWith("engines.")
    )
      return rowsOf(`${path}.`, one);
    const text = JSON.stringify(one.default);
    return [{ path, initial: text.length > 60 ? "in values.yaml" : `\`${text}\``, what: one.description ?? "" }];
  });
}

const notes = `Signalbox {{ .Chart.AppVersion }} is being installed into the namespace {{ .Release.Namespace }}.

Let no pod in that asks for more than ours do:

  kubectl label namespace {{ .Release.Namespace }} --overwrite pod-security.kubernetes.io/enforce=restricted pod-security.kubernetes.io/enforce-version=latest
{{- if not .Values.externalSecrets.enabled }}

Pods wait for these secrets, whose keys are environment variables (k8s/README.md):

  {{ range $name, $service := .Values.services }}{{ $service.secret }} {{ end }}{{ .Values.jobs.migrate.secret }} {{ .Values.jobs.topics.secret }}{{ if .Values.backup.enabled }} {{ .Values.backup.secret }}{{ end }}
{{- end }}
{{- if .Values.networkPolicies.enabled }}

Policies let in and out what they name. Label the namespaces of your Ingress controller and of Prometheus, and the pods of engines, or name
their addresses in networkPolicies:

  kubectl label namespace <of the ingress controller> signalbox.edge=true
  kubectl label namespace <of prometheus> signalbox.monitoring=true
{{- end }}

Wait until it is up, and let the first administrator in:

  kubectl -n {{ .Release.Namespace }} wait --for=condition=complete job/migrate-{{ .Release.Revision }} job/topics-{{ .Release.Revision }} --timeout=5m
  kubectl -n {{ .Release.Namespace }} rollout status deployment --timeout=10m
  kubectl -n {{ .Release.Namespace }} exec -it deployment/account -- infra/docker/run-service.sh first-link
`;
