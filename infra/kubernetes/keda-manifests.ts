import { stringify } from "yaml";
import { labelsOf } from "./pod.ts";
import { busyCpu, scaling } from "./service-manifests.ts";
import { type Scaling, type Workload, workloads } from "./workloads.ts";

/** The user of Kafka that KEDA asks as: it may look, and do nothing (`events.watchers`). */
const kedaPrincipal = "signalbox-keda";
/** The listener of the component `strimzi`, as KEDA reaches it from its own namespace. */
const kafkaBootstrap = "signalbox-kafka-bootstrap.signalbox.svc:9093";
/** Prometheus of the operator; an overlay names another one. */
const prometheus = "http://prometheus-operated.monitoring.svc:9090";

const scaled = workloads.filter((workload) => workload.scaledBy !== undefined);
const meta = (name: string) => ({ name, labels: labelsOf(name) });

/** Builds what KEDA scales by: its objects, and how it signs in to Kafka. */
export function kedaManifests(): object[] {
  return [...kafkaSignIn(), ...scaled.map(scaledObjectOf)];
}

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
    patches: scaled.map(removal),
  };
}

/** The password and the authority are in secrets that the operators of Strimzi keep. */
function kafkaSignIn(): object[] {
  return [
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: meta("keda-kafka"),
      data: { sasl: "scram_sha512", tls: "enable", username: kedaPrincipal },
    },
    {
      apiVersion: "keda.sh/v1alpha1",
      kind: "TriggerAuthentication",
      metadata: meta("keda-kafka"),
      spec: {
        configMapTargetRef: ["sasl", "tls", "username"].map((key) => ({ parameter: key, name: "keda-kafka", key })),
        secretTargetRef: [
          { parameter: "password", name: kedaPrincipal, key: "password" },
          { parameter: "ca", name: "signalbox-cluster-ca-cert", key: "ca.crt" },
        ],
      },
    },
  ];
}

function scaledObjectOf({ service, replicas, scaledBy = [] }: Workload): object {
  return {
    apiVersion: "keda.sh/v1alpha1",
    kind: "ScaledObject",
    metadata: meta(service),
    spec: {
      scaleTargetRef: { name: service },
      // A group without commits would never be scaled up from zero.
      minReplicaCount: Math.max(1, replicas.min),
      maxReplicaCount: replicas.max,
      // What cannot be measured may be bad: half of the pods, and never fewer than run.
      fallback: {
        failureThreshold: 3,
        replicas: Math.ceil(replicas.max / 2),
        behavior: "currentReplicasIfHigher",
      },
      advanced: { horizontalPodAutoscalerConfig: { behavior: scaling } },
      triggers: [...scaledBy.map(triggerOf), { type: "cpu", metricType: "AverageValue", metadata: { value: busyCpu } }],
    },
  };
}

function triggerOf(one: Scaling): object {
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
      bootstrapServers: kafkaBootstrap,
      consumerGroup: one.group,
      topic: one.topic,
      lagThreshold: String(one.lag),
      // More members do not speed up a partition blocked by a failing message.
      excludePersistentLag: "true",
    },
  };
}
