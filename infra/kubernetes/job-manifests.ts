import { labelsOf, type PodSettings, podTemplate, serviceAccount } from "./pod.ts";
import type { EngineRole } from "./workloads.ts";

export interface JobWorkload {
  readonly name: string;
  /** Engines that it connects to. */
  readonly engines: readonly EngineRole[];
}

/** The jobs that migrate the engines to the version of the image; its services wait for that. */
export const jobs: readonly JobWorkload[] = [
  { name: "migrate", engines: ["postgres"] },
  { name: "topics", engines: ["kafka"] },
];

/** The job of the component `backup`. */
export const backupJob: JobWorkload = { name: "backup", engines: ["postgres", "kafka", "blobs"] };

/** The settings of one job; the chart has expressions over its values. */
export interface JobSettings {
  readonly secret: string;
  readonly resources: unknown;
}

/** The times at which backups are taken, and the disk that they are on. */
export interface BackupSettings extends JobSettings {
  readonly schedule: string;
  readonly storage: string;
  /** More members of the claim. */
  readonly claim?: object;
}

const resources = { requests: { cpu: "100m", memory: "192Mi" }, limits: { memory: "384Mi" } };
export const jobSettings = (name: string): JobSettings => ({ secret: name, resources });
export const backupSettings: BackupSettings = {
  ...jobSettings(backupJob.name),
  schedule: "0 * * * *",
  storage: "100Gi",
};

const folder = "/backups";

/** Builds what takes a backup every hour: its account, its disk and its job. */
export function backupManifests(settings: BackupSettings, pods: PodSettings): object[] {
  const { name } = backupJob;
  const labels = labelsOf(name);
  return [
    serviceAccount(name),
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "backups", labels },
      spec: {
        accessModes: ["ReadWriteOnce"],
        ...settings.claim,
        resources: { requests: { storage: settings.storage } },
      },
    },
    {
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata: { name, labels },
      spec: {
        schedule: settings.schedule,
        timeZone: "Etc/UTC",
        // Two would check each other's scratch databases away.
        concurrencyPolicy: "Forbid",
        startingDeadlineSeconds: 600,
        jobTemplate: {
          spec: {
            backoffLimit: 2,
            ttlSecondsAfterFinished: 86_400,
            template: podTemplate({
              name,
              settings: pods,
              spec: { restartPolicy: "Never" },
              args: [name, "run", folder],
              container: containerOf(settings),
              volumes: [
                {
                  name: "backups",
                  mountPath: folder,
                  source: { persistentVolumeClaim: { claimName: "backups" } },
                },
              ],
            }),
          },
        },
      },
    },
  ];
}

export const backupComponent = {
  apiVersion: "kustomize.config.k8s.io/v1alpha1",
  kind: "Component",
  resources: ["backup.yaml"],
};

/** Builds a job and its account. The chart adds its revision to the name, since a job that is there cannot be changed. */
export function jobManifests(name: string, settings: JobSettings, pods: PodSettings, suffix = ""): object[] {
  return [
    serviceAccount(name),
    {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: `${name}${suffix}`, labels: labelsOf(name) },
      spec: {
        backoffLimit: 20,
        // Removed automatically, so that the next version can create its job under the same name.
        ttlSecondsAfterFinished: 300,
        template: podTemplate({
          name,
          settings: pods,
          spec: { restartPolicy: "OnFailure" },
          args: [name],
          container: containerOf(settings),
        }),
      },
    },
  ];
}

const containerOf = ({ secret, resources }: JobSettings): object => ({
  envFrom: [{ secretRef: { name: secret } }],
  resources,
});
