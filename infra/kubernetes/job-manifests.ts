import { policyOfJob } from "./network-policies.ts";
import { containerSecurity, image, labelsOf, podSecurity, scratch } from "./pod.ts";
import type { EngineRole } from "./workloads.ts";

/** The jobs that migrate the engines to the version of the image; its services wait for that. */
const jobs: readonly { readonly name: string; readonly engine: EngineRole }[] = [
  { name: "migrate", engine: "postgres" },
  { name: "topics", engine: "kafka" },
];

/** The time at which backups are taken, and the size of the disk that they are on. */
const backups = { schedule: "0 * * * *", storage: "100Gi", folder: "/backups" };

/** Builds what takes a backup every hour, in the component `backup`: its disk, its job and what it may reach. */
export function backupManifests(): object[] {
  const name = "backup";
  const labels = labelsOf(name);
  const { container, ...pod } = podOf(name);
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, labels }, automountServiceAccountToken: false },
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "backups", labels },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: backups.storage } } },
    },
    {
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata: { name, labels },
      spec: {
        schedule: backups.schedule,
        timeZone: "Etc/UTC",
        // Two would check each other's scratch databases away.
        concurrencyPolicy: "Forbid",
        startingDeadlineSeconds: 600,
        jobTemplate: {
          spec: {
            backoffLimit: 2,
            ttlSecondsAfterFinished: 86_400,
            template: {
              metadata: { labels },
              spec: {
                ...pod,
                restartPolicy: "Never",
                containers: [
                  {
                    ...container,
                    args: [name, "run", backups.folder],
                    volumeMounts: [...container.volumeMounts, { name: "backups", mountPath: backups.folder }],
                  },
                ],
                volumes: [...scratch.volumes, { name: "backups", persistentVolumeClaim: { claimName: "backups" } }],
              },
            },
          },
        },
      },
    },
    policyOfJob(name, ["postgres", "kafka", "blobs"]),
  ];
}

export const backupComponent = {
  apiVersion: "kustomize.config.k8s.io/v1alpha1",
  kind: "Component",
  resources: ["backup.yaml"],
};

/** Builds what the pods of all jobs share, and their container. */
function podOf(name: string) {
  return {
    serviceAccountName: name,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: podSecurity,
    container: {
      name,
      image,
      env: scratch.env,
      envFrom: [{ secretRef: { name } }],
      resources: { requests: { cpu: "100m", memory: "192Mi" }, limits: { memory: "384Mi" } },
      securityContext: containerSecurity,
      volumeMounts: scratch.mounts,
    },
  };
}

export function jobManifests(): object[] {
  return jobs.flatMap(({ name, engine }) => {
    const labels = labelsOf(name);
    const { container, ...pod } = podOf(name);
    return [
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, labels }, automountServiceAccountToken: false },
      {
        apiVersion: "batch/v1",
        kind: "Job",
        metadata: { name, labels },
        spec: {
          backoffLimit: 20,
          // Removed automatically, so that the next version can create its job under the same name.
          ttlSecondsAfterFinished: 300,
          template: {
            metadata: { labels },
            spec: {
              ...pod,
              restartPolicy: "OnFailure",
              containers: [{ ...container, args: [name] }],
              volumes: scratch.volumes,
            },
          },
        },
      },
      policyOfJob(name, [engine]),
    ];
  });
}
