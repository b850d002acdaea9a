import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { root } from "../../generate/repository.ts";
import { externalSecretOf, type VaultSettings } from "../external-secrets.ts";
import { backupJob, backupManifests, type JobSettings, jobManifests, jobs } from "../job-manifests.ts";
import { type KedaSettings, kafkaSignIn, scaledObjectOf, scaledWorkloads } from "../keda-manifests.ts";
import { commonPolicies, type Peers, policyOf, policyOfJob } from "../network-policies.ts";
import type { PodSettings } from "../pod.ts";
import { baseRoutes, httpRoutes, ingress, type RouteSettings } from "../routes.ts";
import { autoscalerOf, type ServiceSettings, serviceManifests } from "../service-manifests.ts";
import { type EngineRole, enginePorts, workloads } from "../workloads.ts";
import { forEachService, templateOf, when } from "./template-yaml.ts";

/** Builds the templates of the chart, by their names, from the builders of the base with expressions in place of values. */
export async function chartTemplates(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ["_helpers.tpl", helpers],
    ["configuration.yaml", configuration],
    ["services.yaml", services()],
    ["jobs.yaml", templateOf(jobs.flatMap(({ name }) => jobManifests(name, jobOf(`jobs.${name}`), pods, revision)))],
    ["network-policies.yaml", networkPolicies()],
    ["ingress.yaml", when("$.Values.ingress.enabled", templateOf([ingress(routes)]))],
    ["gateway-api.yaml", when("$.Values.gatewayApi.enabled", templateOf(httpRoutes(routes)))],
    ["external-secrets.yaml", when("$.Values.externalSecrets.enabled", externalSecrets())],
    ["keda.yaml", when("$.Values.keda.enabled", keda())],
    ["service-monitor.yaml", when("$.Values.serviceMonitor.enabled", await serviceMonitors())],
    ["backup.yaml", when("$.Values.backup.enabled", templateOf(backupManifests(backup, pods)))],
  ]);
}

const value = (path: string): string => `{{ $.Values.${path} }}`;
const quoted = (path: string): string => `{{ $.Values.${path} | quote }}`;
/** JSON is YAML, whatever the indentation. */
const json = (path: string): string => `{{ toJson $.Values.${path} }}`;
/** Members that are there only where their value is. */
const given = (path: string, member: string): object => ({
  [`{{with $.Values.${path}}}${member}`]: "{{ toJson . }}",
});

const helpers = `{{- define "signalbox.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "signalbox.host" -}}
{{ required "host is missing: the name that users type, such as signalbox.example" .Values.host }}
{{- end -}}

{{- define "signalbox.configuration" -}}
{{- $configuration := .Values.configuration -}}
{{- if .Values.host -}}
{{- $configuration = merge (dict) $configuration (dict "SIGNALBOX_HTTP_BASE_URL" (printf "https://%s" .Values.host)) -}}
{{- end -}}
{{ toYaml $configuration }}
{{- end -}}
`;

const pods: PodSettings = {
  image: '{{ include "signalbox.image" $ | quote }}',
  metadata: given("pods.annotations", "annotations"),
  spec: {
    ...given("image.pullSecrets", "imagePullSecrets"),
    ...given("pods.priorityClassName", "priorityClassName"),
    ...given("pods.nodeSelector", "nodeSelector"),
    ...given("pods.tolerations", "tolerations"),
    ...given("pods.affinity", "affinity"),
  },
  container: { imagePullPolicy: value("image.pullPolicy") },
};

const configuration = `---
apiVersion: v1
kind: ConfigMap
metadata:
  name: signalbox
  namespace: {{ .Release.Namespace }}
data:
{{ include "signalbox.configuration" . | indent 2 }}
`;

const service: ServiceSettings = {
  service: "{{ $name }}",
  secret: "{{ $service.secret }}",
  resources: "{{ toJson $service.resources }}",
  replicas: { min: "{{ $service.replicas.min }}", max: "{{ $service.replicas.max }}" },
};
/** The pods of a service begin anew when their properties change. */
const servicePods: PodSettings = {
  ...pods,
  metadata: {
    annotations:
      '{{ toJson (merge (dict "checksum/configuration" (include "signalbox.configuration" $ | sha256sum)) $.Values.pods.annotations) }}',
  },
};

function services(): string {
  const scaled = scaledWorkloads.map(({ service: one }) => `"${one}"`).join(" ");
  const bounds = `{{- if gt (int $service.replicas.min) (int $service.replicas.max) }}
{{- fail (printf "services.%s.replicas: min is more than max" $name) }}
{{- end }}
`;
  return forEachService(
    [
      bounds,
      templateOf(serviceManifests(service, servicePods)),
      when(`not (and $.Values.keda.enabled (has $name (list ${scaled})))`, templateOf([autoscalerOf(service)])),
    ].join(""),
  );
}

const jobOf = (path: string): JobSettings => ({
  secret: value(`${path}.secret`),
  resources: json(`${path}.resources`),
});
const revision = "-{{ $.Release.Revision }}";
const backup = {
  ...jobOf("backup"),
  schedule: quoted("backup.schedule"),
  storage: value("backup.storage"),
  claim: given("backup.storageClassName", "storageClassName"),
};

const peers: Peers = {
  edge: json("networkPolicies.edge"),
  monitoring: json("networkPolicies.monitoring"),
  dns: json("networkPolicies.dns"),
  engines: Object.fromEntries(
    Object.keys(enginePorts).map((role) => [role, json(`networkPolicies.engines.${role}`)]),
  ) as Record<EngineRole, string>,
};

function networkPolicies(): string {
  const always = [
    ...commonPolicies(peers),
    ...workloads.map((workload) => policyOf(workload, peers)),
    ...jobs.map((job) => policyOfJob(job, peers)),
  ];
  const ofBackup = when("$.Values.backup.enabled", templateOf([policyOfJob(backupJob, peers)]));
  return when("$.Values.networkPolicies.enabled", `${templateOf(always)}${ofBackup}`);
}

const routes: RouteSettings = {
  host: '{{ include "signalbox.host" $ }}',
  ingressClass: value("ingress.className"),
  tlsSecret: value("ingress.tlsSecret"),
  annotations: json("ingress.annotations"),
  gateway: value("gatewayApi.gateway"),
};

function externalSecrets(): string {
  const vault: VaultSettings = {
    storeKind: value("externalSecrets.storeKind"),
    storeName: value("externalSecrets.storeName"),
    prefix: value("externalSecrets.prefix"),
    refreshInterval: value("externalSecrets.refreshInterval"),
  };
  const ofJob = (path: string, name: string) => templateOf([externalSecretOf(name, vault, value(`${path}.secret`))]);
  return [
    forEachService(templateOf([externalSecretOf("{{ $name }}", vault, service.secret)])),
    ...jobs.map(({ name }) => ofJob(`jobs.${name}`, name)),
    when("$.Values.backup.enabled", ofJob("backup", backupJob.name)),
  ].join("");
}

function keda(): string {
  const kafka = (member: string) => value(`keda.kafka.${member}`);
  const settings: KedaSettings = {
    prometheus: value("keda.prometheus"),
    kafka: {
      bootstrapServers: kafka("bootstrapServers"),
      sasl: kafka("sasl"),
      tls: kafka("tls"),
      username: kafka("username"),
      passwordSecret: kafka("passwordSecret"),
      caSecret: kafka("caSecret"),
    },
  };
  const scaledObjects = scaledWorkloads.map(({ service: name, scaledBy = [] }) => {
    const [min, max] = ["min", "max"].map((bound) => `(index $.Values.services "${name}").replicas.${bound}`);
    const replicas = { min: `{{ ${min} }}`, max: `{{ ${max} }}` };
    // Half of the most, rounded up.
    return scaledObjectOf({ ...service, service: name, replicas }, scaledBy, settings, `{{ div (add ${max} 1) 2 }}`);
  });
  return templateOf([...kafkaSignIn(settings), ...scaledObjects]);
}

/** Builds the template of the component that is written by hand: what is scraped and, where the edge has a name, its probe. */
async function serviceMonitors(): Promise<string> {
  const folder = join(root, "k8s/components/service-monitor");
  const { resources } = parse(await readFile(join(folder, "kustomization.yaml"), "utf8"));
  const texts = await Promise.all(resources.map((name: string) => readFile(join(folder, name), "utf8")));
  const manifests = texts.map((text) => parse(text.replaceAll(baseRoutes.host, routes.host)));
  const probes = manifests.filter(({ kind }) => kind === "Probe");
  for (const { spec } of probes) spec.prober.url = value("serviceMonitor.prober");
  const others = manifests.filter(({ kind }) => kind !== "Probe");
  return `${templateOf(others)}${when("$.Values.host", templateOf(probes))}`;
}
