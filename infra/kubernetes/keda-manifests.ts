import { stringify } from "yaml";
import { labelsOf } from "./pod.ts";
import { busyCpu, type ServiceSettings, scaling } from "./service-manifests.ts";
import { type Scaling, type Workload, workloads } from "./workloads.ts";

/** The servers that KEDA asks, and how it signs in; the chart has expressions over its values. */
export interface KedaSettings {
  readonly prometheus: string;
  readonly kafka: {
    readonly bootstrapServers: string;
    readonly sasl: string;
    readonly tls: string;
    /** The user may look, and do nothing (`events.watchers`). */
    readonly username: string;
    readonly passwordSecret: string;
    readonly caSecret: string;
  };
}

/** The Prometheus of its operator and the listener of the component `strimzi`; an overlay names others. */
export const baseKeda: KedaSettings = {
  prometheus: "http://prometheus-operated.monitoring.svc:9090",
  kafka: {
    bootstrapServers: "signalbox-kafka-bootstrap.signalbox.svc:9093",
    sasl: "scram_sha512",
    tls: "enable",
    username: "signalbox-keda",
    passwordSecret: "signalbox-keda",
    caSecret: "signalbox-cluster-ca-cert",
  },
};

/** The workloads that KEDA scales, where it is installed. */
export const scaledWorkloads = workloads.filter((workload) => workload.scaledBy !== undefined);
const meta = (name: string) => ({ name, labels: labelsOf(name) });

/** Builds the component, which takes the place of the base's scaling by processor time alone. */
export function kedaComponent(): object {
  const removal = ({ service }: Workload) => ({
    patch: stringify({
      $patch: "delete",
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: service },
    }),
  });
  return {
    apiVersion: "kustomize.config.k8s.io/v1alpha1",
    kind: "Component",
    resources: ["scaled-objects.yaml"],
    patches: scaledWorkloads.map(removal),
  };
}

/** Builds the sign-in of KEDA. The password and the authority are in secrets that the operators of Strimzi keep. */
export function kafkaSignIn({ kafka }: KedaSettings): object[] {
  const { sasl, tls, username, passwordSecret, caSecret } = kafka;
  return [
    { apiVersion: "v1", kind: "ConfigMap", metadata: meta("keda-kafka"), data: { sasl, tls, username } },
    {
      apiVersion: "keda.sh/v1alpha1",
      kind: "TriggerAuthentication",
      metadata: meta("keda-kafka"),
      spec: {
        configMapTargetRef: ["sasl", "tls", "username"].map((key) => ({ parameter: key, name: "keda-kafka", key })),
        secretTargetRef: [
          { parameter: "password", name: passwordSecret, key: "password" },
          { parameter: "ca", name: caSecret, key: "ca.crt" },
        ],
      },
    },
  ];
}

/** The pods that run while nothing can be measured, which may be bad: half of the most, and never fewer than before. */
export const fallbackReplicas = (max: number): number => Math.ceil(max / 2);

/** Builds the scaling of a service by its measures and its processor time. */
export function scaledObjectOf(
  { service, replicas }: ServiceSettings,
  measures: readonly Scaling[],
  keda: KedaSettings,
  fallback: unknown,
): object {
  const processorTime = { type: "cpu", metricType: "AverageValue", metadata: { value: busyCpu } };
  return {
    apiVersion: "keda.sh/v1alpha1",
    kind: "ScaledObject",
    metadata: meta(service),
    spec: {
      scaleTargetRef: { name: service },
      // Never zero: a group without commits would not be scaled up from there.
      minReplicaCount: replicas.min,
      maxReplicaCount: replicas.max,
      fallback: { failureThreshold: 3, replicas: fallback, behavior: "currentReplicasIfHigher" },
      advanced: { horizontalPodAutoscalerConfig: { behavior: scaling } },
      triggers: [...measures.map((one) => triggerOf(one, keda)), processorTime],
    },
  };
}

function triggerOf(one: Scaling, { prometheus, kafka }: KedaSettings): object {
  if ("query" in one)
    return {
      type: "prometheus",
      metricType: "AverageValue",
      // A metric that is gone is a fault, and not zero.
      metadata: { serverAddress: prometheus, query: one.query, threshold: String(one.per), ignoreNullValues: "false" },
    };
  return {
    type: "kafka",
    authenticationRef: { name: "keda-kafka" },
    metadata: {
      bootstrapServers: kafka.bootstrapServers,
      consumerGroup: one.group,
      topic: one.topic,
      lagThreshold: String(one.lag),
      // More members do not speed up a partition blocked by a failing message.
      excludePersistentLag: "true",
    },
  };
}
