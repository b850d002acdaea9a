import { labelsOf, type PodSettings, podTemplate, serviceAccount } from "./pod.ts";
import type { Workload } from "./workloads.ts";

const ports = { http: 8080, management: 8081, internal: 8090 } as const;
/** Longer than the grace period and the deadline of a stop together: 5 s and 25 s. */
const stopSeconds = 45;

/** The settings of one service: those of its workload, or the chart's expressions over its values. */
export interface ServiceSettings {
  readonly service: string;
  /** The name of its secret. */
  readonly secret: string;
  readonly resources: unknown;
  readonly replicas: { readonly min: unknown; readonly max: unknown };
}

export const serviceSettings = ({ service, replicas, memory, memoryRequest }: Workload): ServiceSettings => ({
  service,
  secret: service,
  replicas,
  resources: { requests: { cpu: "100m", memory: memoryRequest }, limits: { memory } },
});

/** Builds the manifests of a service without its scaling: its account, its pods, its address, and its disruption budget. */
export function serviceManifests(settings: ServiceSettings, pods: PodSettings): object[] {
  const { service } = settings;
  const labels = labelsOf(service);
  const meta = { name: service, labels };
  return [
    serviceAccount(service),
    deploymentOf(settings, pods),
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: meta,
      spec: {
        selector: { "app.kubernetes.io/name": service },
        ports: Object.entries(ports).map(([name, port]) => ({ name, port, targetPort: name })),
      },
    },
    {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: meta,
      spec: { maxUnavailable: 1, selector: { matchLabels: { "app.kubernetes.io/name": service } } },
    },
  ];
}

/** It names no number of replicas: that of its autoscaler would be taken back with each change of a manifest. */
function deploymentOf({ service, secret, resources }: ServiceSettings, pods: PodSettings): object {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: service, labels: labelsOf(service) },
    spec: {
      selector: { matchLabels: { "app.kubernetes.io/name": service } },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: podTemplate({
        name: service,
        settings: pods,
        spec: { terminationGracePeriodSeconds: stopSeconds, topologySpreadConstraints: spread(service) },
        args: [service],
        container: {
          ports: Object.entries(ports).map(([name, containerPort]) => ({ name, containerPort })),
          envFrom: [{ configMapRef: { name: "signalbox" } }, { secretRef: { name: secret } }],
          resources,
          startupProbe: probe("startup", { periodSeconds: 2, failureThreshold: 150 }),
          readinessProbe: probe("ready", { periodSeconds: 5, failureThreshold: 2 }),
          livenessProbe: probe("live", { periodSeconds: 10, failureThreshold: 3 }),
        },
      }),
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

export function autoscalerOf({ service, replicas }: ServiceSettings): object {
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
