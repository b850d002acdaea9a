import { policyOfJob } from "./network-policies.ts";
import { containerSecurity, image, labelsOf, podSecurity, scratch } from "./pod.ts";
import type { EngineRole } from "./workloads.ts";

/** The jobs that migrate the engines to the version of the image; its services wait for that. */
const jobs: readonly { readonly name: string; readonly engine: EngineRole }[] = [
  { name: "migrate", engine: "postgres" },
  { name: "topics", engine: "kafka" },
];

export function jobManifests(): object[] {
  return jobs.flatMap(({ name, engine }) => {
    const labels = labelsOf(name);
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
              serviceAccountName: name,
              automountServiceAccountToken: false,
              enableServiceLinks: false,
              restartPolicy: "OnFailure",
              securityContext: podSecurity,
              containers: [
                {
                  name,
                  image,
                  args: [name],
                  env: scratch.env,
                  envFrom: [{ secretRef: { name } }],
                  resources: { requests: { cpu: "100m", memory: "192Mi" }, limits: { memory: "384Mi" } },
                  securityContext: containerSecurity,
                  volumeMounts: scratch.mounts,
                },
              ],
              volumes: scratch.volumes,
            },
          },
        },
      },
      policyOfJob(name, engine),
    ];
  });
}
