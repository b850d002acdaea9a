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

const tcp = (...ports: readonly number[]) => ports.map((port) => ({ protocol: "TCP", port }));
const podsOf = (name: string) => ({ podSelector: { matchLabels: { "app.kubernetes.io/name": name } } });
/** Engines have a label with their role; an external one is named by address in an overlay. */
const engine = (role: EngineRole) => ({
  namespaceSelector: {},
  podSelector: { matchLabels: { "signalbox.engine": role } },
});
const namespaceOf = (role: string) => ({ namespaceSelector: { matchLabels: { [`signalbox.${role}`]: "true" } } });

/** Denies all traffic except to the DNS server of the cluster. */
export function commonPolicies(): object[] {
  return [
    policy("default-deny", {}, { policyTypes: ["Ingress", "Egress"] }),
    policy(
      "dns",
      {},
      {
        policyTypes: ["Egress"],
        egress: [
          {
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
        ],
      },
    ),
  ];
}

/** Builds the policy of a service: its callers and its targets. */
export function policyOf(workload: Workload): object {
  const { service, isPublic, calls, engines, goesOutside } = workload;
  const callers = workloads.filter((other) => other.calls.includes(service)).map((other) => podsOf(other.service));
  const ingress = [
    ...(isPublic ? [{ from: [namespaceOf("edge")], ports: tcp(8080) }] : []),
    { from: [namespaceOf("monitoring")], ports: tcp(8081) },
    ...(callers.length > 0 ? [{ from: callers, ports: tcp(8090) }] : []),
  ];
  const egress = [
    ...engines.map((role) => ({ to: [engine(role)], ports: tcp(...enginePorts[role]) })),
    ...(calls.length > 0 ? [{ to: calls.map(podsOf), ports: tcp(8090) }] : []),
    ...(goesOutside ? [{ to: outside }] : []),
  ];
  const spec = { policyTypes: ["Ingress", "Egress"], ingress, egress };
  return policy(service, { matchLabels: { "app.kubernetes.io/name": service } }, spec);
}

const outside = [{ ipBlock: { cidr: "0.0.0.0/0", except: insideV4 } }, { ipBlock: { cidr: "::/0", except: insideV6 } }];

/** Builds the policy of a job, which may reach only its engines. */
export function policyOfJob(name: string, roles: readonly EngineRole[]): object {
  const egress = roles.map((role) => ({ to: [engine(role)], ports: tcp(...enginePorts[role]) }));
  return policy(
    name,
    { matchLabels: { "app.kubernetes.io/name": name } },
    { policyTypes: ["Ingress", "Egress"], egress },
  );
}

function policy(name: string, podSelector: object, spec: object): object {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, labels: labelsOf(name) },
    spec: { podSelector, ...spec },
  };
}
