import type { JobWorkload } from "./job-manifests.ts";
import { labelsOf } from "./pod.ts";
import { type EngineRole, enginePorts, type Workload, workloads } from "./workloads.ts";

/**
 * Internal addresses, which no webhook, import or mail may reach: the second barrier behind the guard of the process.
 */
const insideV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "224.0.0.0/3",
];
const insideV6 = ["::/127", "64:ff9b::/96", "fc00::/7", "fe80::/10", "ff00::/8"];
const publicAddresses = [
  { ipBlock: { cidr: "0.0.0.0/0", except: insideV4 } },
  { ipBlock: { cidr: "::/0", except: insideV6 } },
];

const tcp = (...ports: readonly number[]) => ports.map((port) => ({ protocol: "TCP", port }));
const podsOf = (name: string) => ({ podSelector: { matchLabels: { "app.kubernetes.io/name": name } } });
const namespaceOf = (role: string) => ({ namespaceSelector: { matchLabels: { [`signalbox.${role}`]: "true" } } });

/** The peers outside of our own pods: those of the base, or the chart's expressions over its values. */
export interface Peers {
  /** Lists of peers that may call public listeners, and management servers. */
  readonly edge: unknown;
  readonly monitoring: unknown;
  /** Rules of egress: to the DNS server of the cluster, and to each engine. */
  readonly dns: unknown;
  readonly engines: Readonly<Record<EngineRole, unknown>>;
}

/** Engines have a label with their role; an external one is named by address in an overlay. */
const engine = (role: EngineRole) => ({
  to: [{ namespaceSelector: {}, podSelector: { matchLabels: { "signalbox.engine": role } } }],
  ports: tcp(...enginePorts[role]),
});

export const basePeers = {
  edge: [namespaceOf("edge")],
  monitoring: [namespaceOf("monitoring")],
  dns: {
    to: [
      {
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } },
        podSelector: { matchLabels: { "k8s-app": "kube-dns" } },
      },
    ],
    ports: [
      { protocol: "UDP", port: 53 },
      { protocol: "TCP", port: 53 },
    ],
  },
  engines: {
    postgres: engine("postgres"),
    kafka: engine("kafka"),
    redis: engine("redis"),
    blobs: engine("blobs"),
    collector: engine("collector"),
  },
} satisfies Peers;

/** Builds the policies of every pod: they deny all traffic except to the DNS server of the cluster. */
export function commonPolicies({ dns }: Peers): object[] {
  return [
    policy("default-deny", {}, { policyTypes: ["Ingress", "Egress"] }),
    policy("dns", {}, { policyTypes: ["Egress"], egress: [dns] }),
  ];
}

/** Builds the policy of a service: its callers and its targets. */
export function policyOf({ service, isPublic, calls, engines, outside }: Workload, peers: Peers): object {
  const callers = workloads.filter((other) => other.calls.includes(service)).map((other) => podsOf(other.service));
  const ingress = [
    ...(isPublic ? [{ from: peers.edge, ports: tcp(8080) }] : []),
    { from: peers.monitoring, ports: tcp(8081) },
    ...(callers.length > 0 ? [{ from: callers, ports: tcp(8090) }] : []),
  ];
  const egress = [
    ...[...engines, "collector" as const].map((role) => peers.engines[role]),
    ...(calls.length > 0 ? [{ to: calls.map(podsOf), ports: tcp(8090) }] : []),
    ...(outside === null ? [] : [{ to: publicAddresses }]),
  ];
  return policy(service, { matchLabels: { "app.kubernetes.io/name": service } }, { policyTypes, ingress, egress });
}

/** Builds the policy of a job, which may reach only its engines. */
export function policyOfJob({ name, engines }: JobWorkload, peers: Peers): object {
  const egress = engines.map((role) => peers.engines[role]);
  return policy(name, { matchLabels: { "app.kubernetes.io/name": name } }, { policyTypes, egress });
}

const policyTypes = ["Ingress", "Egress"];

function policy(name: string, podSelector: object, spec: object): object {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, labels: labelsOf(name) },
    spec: { podSelector, ...spec },
  };
}
