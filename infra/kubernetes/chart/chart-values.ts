import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { root } from "../../generate/repository.ts";
import { baseVault, secretReaders } from "../external-secrets.ts";
import { backupSettings, jobSettings } from "../job-manifests.ts";
import { baseKeda } from "../keda-manifests.ts";
import { basePeers } from "../network-policies.ts";
import { baseRoutes } from "../routes.ts";
import { serviceSettings } from "../service-manifests.ts";
import { type Workload, workloads } from "../workloads.ts";

/** Parts of a manifest that Kubernetes itself judges. */
const part = z.looseObject({});
const parts = z.array(part);
const rule = z.strictObject({ to: parts, ports: parts.optional() });
const resources = z.strictObject({ requests: part.optional(), limits: part.optional() });
const name = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/)
  .max(253);
const enabled = (what: string) => z.boolean().default(false).describe(what);
/** An object that is complete when nothing is set of it. */
const section = <Shape extends z.ZodRawShape>(shape: Shape, what: string) =>
  z
    .strictObject(shape)
    .prefault({} as never)
    .describe(what);

const image = section(
  {
    repository: z.string().min(1).default("registry.example/signalbox"),
    tag: z.string().default("").describe("The version of the chart when empty."),
    digest: z
      .string()
      .regex(/^(sha256:[0-9a-f]{64})?$/)
      .default("")
      .describe("Counts in place of the tag: `sha256:…`."),
    pullPolicy: z.enum(["IfNotPresent", "Always", "Never"]).default("IfNotPresent"),
    pullSecrets: z.array(z.strictObject({ name })).default([]),
  },
  "The image of every service and job.",
);

const jobs = section(
  { migrate: jobValues("migrate"), topics: jobValues("topics") },
  "The jobs that bring databases and topics to the version of the image.",
);

const pods = section(
  {
    annotations: z.record(z.string(), z.string()).default({}),
    nodeSelector: z.record(z.string(), z.string()).default({}),
    tolerations: parts.default([]),
    affinity: part.default({}),
    priorityClassName: z.string().default(""),
  },
  "Members of every pod.",
);

const networkPolicies = section(
  {
    enabled: z.boolean().default(true).describe("Nothing comes in or out but what a policy names."),
    edge: parts.default(basePeers.edge).describe("The peers that may call public listeners."),
    monitoring: parts.default(basePeers.monitoring).describe("The peers that may read metrics."),
    dns: rule.default(basePeers.dns).describe("The rule to the DNS server."),
    engines: section(
      Object.fromEntries(Object.entries(basePeers.engines).map(([role, way]) => [role, rule.default(way)])),
      "The rules to the engines: by label, or by `ipBlock` for those outside of the cluster.",
    ),
  },
  "Who may reach whom (docs/reference/network.md).",
);

const ingress = section(
  {
    enabled: enabled("Needs `host`."),
    className: z.string().default(baseRoutes.ingressClass),
    tlsSecret: name.default(baseRoutes.tlsSecret),
    annotations: z.record(z.string(), z.string()).default(baseRoutes.annotations),
  },
  "Routes for an Ingress controller.",
);

const gatewayApi = section(
  { enabled: enabled("Needs `host`."), gateway: name.default(baseRoutes.gateway) },
  "The same routes for the Gateway API.",
);

const externalSecrets = section(
  {
    enabled: enabled("Fills the secrets of services and jobs from a vault."),
    storeKind: z.enum(["ClusterSecretStore", "SecretStore"]).default("ClusterSecretStore"),
    storeName: name.default(baseVault.storeName),
    prefix: z.string().default(baseVault.prefix),
    refreshInterval: z.string().default(baseVault.refreshInterval),
  },
  "The operator External Secrets.",
);

const keda = section(
  {
    enabled: enabled("Scales by harm to callers, beside processor time."),
    prometheus: z.url().default(baseKeda.prometheus),
    kafka: section(
      {
        bootstrapServers: z.string().min(1).default(baseKeda.kafka.bootstrapServers),
        sasl: z.enum(["none", "plaintext", "scram_sha256", "scram_sha512"]).default("scram_sha512"),
        tls: z.enum(["enable", "disable"]).default("enable"),
        username: z.string().default(baseKeda.kafka.username),
        passwordSecret: name.default(baseKeda.kafka.passwordSecret).describe("Its key is `password`."),
        caSecret: name.default(baseKeda.kafka.caSecret).describe("Its key is `ca.crt`."),
      },
      "The sign-in may look and do nothing: `SIGNALBOX_EVENTS_WATCHERS` of the job topics.",
    ),
  },
  "Scaling by KEDA.",
);

const serviceMonitor = section(
  {
    enabled: enabled("Scrapes every service, and asks the edge where `host` is set."),
    prober: z
      .string()
      .min(1)
      .default("blackbox-exporter.monitoring.svc:9115")
      .describe("A blackbox exporter with the module `edge` of infra/observe/blackbox/blackbox.yml."),
  },
  "The operator of Prometheus. Its rules are in infra/observe/prometheus/rules.yml.",
);

const backup = section(
  {
    enabled: enabled("Takes a backup of everything, and restores it for a check."),
    ...jobFields("backup"),
    schedule: z.string().default(backupSettings.schedule),
    storage: z.string().default(backupSettings.storage),
    storageClassName: z.string().default("").describe("That of the cluster when empty."),
  },
  "Backups (docs/how-to/back-up-and-restore.md).",
);

/** Declares the values of the chart: their kinds, their defaults, which make the base, and what they are for. */
export async function chartValues() {
  return z.strictObject({
    image,
    host: z
      .string()
      .regex(/^([a-z0-9-]+(\.[a-z0-9-]+)*)?$/)
      .default("")
      .describe("The name that users type, for ingress or gatewayApi and in links."),
    configuration: z
      .record(z.string().regex(/^SIGNALBOX_[A-Z0-9_]+$/), z.string())
      .default(await baseConfiguration())
      .describe("Properties that all services share, as environment variables (docs/reference/properties.md)."),
    services: section(
      Object.fromEntries(workloads.map((workload) => [workload.service, serviceValues(workload)])),
      "The services. A secret is named here and made by you or by externalSecrets; its keys are environment variables.",
    ),
    jobs,
    pods,
    networkPolicies,
    ingress,
    gatewayApi,
    externalSecrets,
    keda,
    serviceMonitor,
    backup,
  });
}

function serviceValues(workload: Workload) {
  const { secret, resources: wanted, replicas } = serviceSettings(workload);
  return section(
    {
      secret: name.default(secret),
      replicas: section(
        {
          min: z
            .int()
            .min(1)
            .max(1000)
            .default(replicas.min as number),
          max: z
            .int()
            .min(1)
            .max(1000)
            .default(replicas.max as number),
        },
        "Bounds of the scaling.",
      ),
      resources: resources.default(wanted as z.infer<typeof resources>),
    },
    `${workload.isPublic ? "Behind the edge" : "Without routes"}; engines: ${workload.engines.join(", ")}.`,
  );
}

function jobFields(job: string) {
  const { secret, resources: wanted } = jobSettings(job);
  if (!secretReaders.includes(secret)) throw new Error(`no job has the secret ${secret}`);
  return { secret: name.default(secret), resources: resources.default(wanted as z.infer<typeof resources>) };
}
function jobValues(job: string) {
  return z.strictObject(jobFields(job)).prefault({});
}

async function baseConfiguration(): Promise<Record<string, string>> {
  return parse(await readFile(join(root, "k8s/base/configuration.yaml"), "utf8")).data;
}
