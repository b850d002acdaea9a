import { containerSecurity, image, labelsOf, podSecurity, scratch } from "./pod.ts";
import type { Workload } from "./workloads.ts";

const ports = { http: 8080, management: 8081, internal: 8090 } as const;
/** Longer than the grace period and the deadline of a stop together: 5 s and 25 s. */
const stopSeconds = 45;

/** Builds the manifests of a service: its account, its pods, its address, and its disruption budget. */
export function serviceManifests(workload: Workload): object[] {
  const { service, replicas } = workload;
  const labels = labelsOf(service);
  const meta = { name: service, labels };
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: meta, automountServiceAccountToken: false },
    deploymentOf(workload),
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: meta,
      spec: {
        selector: { "app.kubernetes.io/name": service },
        ports: Object.entries(ports).map(([name, port]) => ({ name, port, targetPort: name })),
      },
    },
    ...(replicas.min > 1
      ? [
          {
            apiVersion: "policy/v1",
            kind: "PodDisruptionBudget",
            metadata: meta,
            spec: { maxUnavailable: 1, selector: { matchLabels: { "app.kubernetes.io/name": service } } },
          },
        ]
      : []),
    autoscalerOf(workload),
  ];
}

function deploymentOf({ service, memory, memoryRequest, replicas }: Workload): object {
  const labels = labelsOf(service);
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: service, labels },
    spec: {
      replicas: replicas.min,
      selector: { matchLabels: { "app.kubernetes.io/name": service } },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: service,
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: stopSeconds,
          securityContext: podSecurity,
          topologySpreadConstraints: spread(service),
          containers: [
            {
              name: service,
              image,
              args: [service],
              ports: Object.entries(ports).map(([name, containerPort]) => ({ name, containerPort })),
              env: scratch.env,
              envFrom: [{ configMapRef: { name: "signalbox" } }, { secretRef: { name: service } }],
              resources: { requests: { cpu: "100m", memory: memoryRequest }, limits: { memory } },
              startupProbe: probe("startup", { periodSeconds: 2, failureThreshold: 150 }),
              readinessProbe: probe("ready", { periodSeconds: 5, failureThreshold: 2 }),
              livenessProbe: probe("live", { periodSeconds: 10, failureThreshold: 3 }),
              securityContext: containerSecurity,
              volumeMounts: scratch.mounts,
            },
          ],
          volumes: scratch.volumes,
        },
      },
    },
  };
}

const probe = (kind: "startup" | "ready" | "live", pace: object): object => ({
  httpGet: { path: `/management/health/${kind}`, port: "management" },
  timeoutSeconds: 5,
  ...pace,
});

/** Spreads the pods: a failed node or zone takes down only its share. */
function spread(service: string): object[] {
  return ["kubernetes.io/hostname", "topology.kubernetes.io/zone"].map((topologyKey) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels: { "app.kubernetes.io/name": service } },
  }));
}

/** Processor time of a pod, on the average, at which there are more of them. */
export const busyCpu = "700m";

/** Scales up fast and down slowly: each change of the number of members pauses a group for a moment. */
export const scaling = { scaleDown: { stabilizationWindowSeconds: 300 } };

function autoscalerOf({ service, replicas }: Workload): object {
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: service, labels: labelsOf(service) },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: service },
      minReplicas: replicas.min,
      maxReplicas: replicas.max,
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { type: "AverageValue", averageValue: busyCpu } } },
      ],
      behavior: scaling,
    },
  };
}
