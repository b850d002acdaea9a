import { stringify } from "yaml";
import { backupComponent, backupManifests, jobManifests } from "./job-manifests.ts";
import { kedaComponent, kedaManifests } from "./keda-manifests.ts";
import { commonPolicies, policyOf } from "./network-policies.ts";
import { labelsOf } from "./pod.ts";
import { httpRoutes, ingress } from "./routes.ts";
import { serviceManifests } from "./service-manifests.ts";
import { workloads } from "./workloads.ts";

/** Readers of a secret: each service and each job has one of its own. */
const readers = [...workloads.map(({ service }) => service), "migrate", "topics", "backup"];

/** Builds the manifests from the table of workloads, by their path. Settings of a deployment are in the overlays. */
export function kubernetesFiles(): ReadonlyMap<string, string> {
  return new Map([
    ...workloads.map((workload): [string, string] => [
      `k8s/base/${workload.service}.yaml`,
      yamlOf([...serviceManifests(workload), policyOf(workload)]),
    ]),
    ["k8s/base/jobs.yaml", yamlOf(jobManifests())],
    ["k8s/base/network-policies.yaml", yamlOf(commonPolicies())],
    ["k8s/components/backup/kustomization.yaml", yamlOf([backupComponent])],
    ["k8s/components/backup/backup.yaml", yamlOf(backupManifests())],
    ["k8s/components/keda/kustomization.yaml", yamlOf([kedaComponent()])],
    ["k8s/components/keda/scaled-objects.yaml", yamlOf(kedaManifests())],
    ["k8s/components/ingress/ingress.yaml", yamlOf([ingress()])],
    ["k8s/components/gateway-api/routes.yaml", yamlOf(httpRoutes())],
    ["k8s/components/external-secrets/secrets.yaml", yamlOf(readers.map(externalSecretOf))],
  ]);
}

/** Builds the reference to the vault of the deployment; a changed secret is in the pods after their next start. */
function externalSecretOf(name: string): object {
  return {
    apiVersion: "external-secrets.io/v1",
    kind: "ExternalSecret",
    metadata: { name, labels: labelsOf(name) },
    spec: {
      refreshInterval: "1h",
      secretStoreRef: { kind: "ClusterSecretStore", name: "signalbox" },
      target: { name, creationPolicy: "Owner" },
      dataFrom: [{ extract: { key: `signalbox/${name}` } }],
    },
  };
}

function yamlOf(manifests: readonly object[]): string {
  const documents = manifests.map((manifest) => stringify(manifest, { aliasDuplicateObjects: false, lineWidth: 0 }));
  return `# Generated from infra/kubernetes by \`npm run generate\`; settings of a deployment are in the overlays.\n${documents.join("---\n")}`;
}
