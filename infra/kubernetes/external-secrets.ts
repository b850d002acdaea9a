import { backupJob, jobs } from "./job-manifests.ts";
import { labelsOf } from "./pod.ts";
import { workloads } from "./workloads.ts";

/** The vault of a deployment, as the operator of external secrets knows it; the chart has expressions over its values. */
export interface VaultSettings {
  readonly storeKind: string;
  readonly storeName: string;
  /** The path of all secrets in it, with a slash at its end. */
  readonly prefix: string;
  readonly refreshInterval: string;
}

export const baseVault: VaultSettings = {
  storeKind: "ClusterSecretStore",
  storeName: "signalbox",
  prefix: "signalbox/",
  refreshInterval: "1h",
};

/** Readers of a secret: each service and each job has one of its own. */
export const secretReaders = [
  ...workloads.map(({ service }) => service as string),
  ...[...jobs, backupJob].map(({ name }) => name),
];

/** Builds the reference to the vault; a changed secret is in the pods after their next start. */
export function externalSecretOf(name: string, vault: VaultSettings, secret = name): object {
  return {
    apiVersion: "external-secrets.io/v1",
    kind: "ExternalSecret",
    metadata: { name, labels: labelsOf(name) },
    spec: {
      refreshInterval: vault.refreshInterval,
      secretStoreRef: { kind: vault.storeKind, name: vault.storeName },
      target: { name: secret, creationPolicy: "Owner" },
      dataFrom: [{ extract: { key: `${vault.prefix}${name}` } }],
    },
  };
}
