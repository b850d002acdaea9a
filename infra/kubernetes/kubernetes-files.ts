import { stringify } from "yaml";
import { yamlOptions } from "./chart/template-yaml.ts";
import { baseVault, externalSecretOf, secretReaders } from "./external-secrets.ts";
import {
  backupComponent,
  backupJob,
  backupManifests,
  backupSettings,
  jobManifests,
  jobSettings,
  jobs,
} from "./job-manifests.ts";
import {
  baseKeda,
  fallbackReplicas,
  kafkaSignIn,
  kedaComponent,
  scaledObjectOf,
  scaledWorkloads,
} from "./keda-manifests.ts";
import { basePeers, commonPolicies, policyOf, policyOfJob } from "./network-policies.ts";
import { basePods } from "./pod.ts";
import { baseRoutes, httpRoutes, ingress } from "./routes.ts";
import { autoscalerOf, serviceManifests, serviceSettings } from "./service-manifests.ts";
import { type Workload, workloads } from "./workloads.ts";

/** Builds the manifests from the table of workloads, by their path. Settings of a deployment are in the overlays. */
export function kubernetesFiles(): ReadonlyMap<string, string> {
  return new Map([
    ...workloads.map((workload): [string, string] => [
      `k8s/base/${workload.service}.yaml`,
      yamlOf(manifestsOf(workload)),
    ]),
    [
      "k8s/base/jobs.yaml",
      yamlOf(
        jobs.flatMap((job) => [
          ...jobManifests(job.name, jobSettings(job.name), basePods),
          policyOfJob(job, basePeers),
        ]),
      ),
    ],
    ["k8s/base/network-policies.yaml", yamlOf(commonPolicies(basePeers))],
    ["k8s/components/backup/kustomization.yaml", yamlOf([backupComponent])],
    [
      "k8s/components/backup/backup.yaml",
      yamlOf([...backupManifests(backupSettings, basePods), policyOfJob(backupJob, basePeers)]),
    ],
    ["k8s/components/keda/kustomization.yaml", yamlOf([kedaComponent()])],
    [
      "k8s/components/keda/scaled-objects.yaml",
      yamlOf([...kafkaSignIn(baseKeda), ...scaledWorkloads.map(scaledObjectOfBase)]),
    ],
    ["k8s/components/ingress/ingress.yaml", yamlOf([ingress(baseRoutes)])],
    ["k8s/components/gateway-api/routes.yaml", yamlOf(httpRoutes(baseRoutes))],
    [
      "k8s/components/external-secrets/secrets.yaml",
      yamlOf(secretReaders.map((name) => externalSecretOf(name, baseVault))),
    ],
  ]);
}

function manifestsOf(workload: Workload): object[] {
  const settings = serviceSettings(workload);
  return [...serviceManifests(settings, basePods), autoscalerOf(settings), policyOf(workload, basePeers)];
}

function scaledObjectOfBase(workload: Workload): object {
  const fallback = fallbackReplicas(workload.replicas.max);
  return scaledObjectOf(serviceSettings(workload), workload.scaledBy ?? [], baseKeda, fallback);
}

function yamlOf(manifests: readonly object[]): string {
  const documents = manifests.map((manifest) => stringify(manifest, yamlOptions));
  return `# Generated from infra/kubernetes by \`npm run generate\`; settings of a deployment are in the overlays.\n${documents.join("---\n")}`;
}
