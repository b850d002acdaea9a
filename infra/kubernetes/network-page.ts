import { backupJob, jobs } from "./job-manifests.ts";
import { type EngineRole, enginePorts, workloads } from "./workloads.ts";

/** One way through the policies. */
export interface NetworkEdge {
  readonly from: string;
  readonly to: string;
  readonly ports: readonly number[] | "any";
  readonly why: string;
}

/** Lists every way that the policies leave open, from the same table as they. */
export function networkEdges(): NetworkEdge[] {
  const toEngine = (from: string) => (role: EngineRole) => ({
    from,
    to: `engine ${role}`,
    ports: enginePorts[role],
    why: engineReasons[role],
  });
  return [
    ...workloads.flatMap(({ service, isPublic, calls, engines, outside }): NetworkEdge[] => [
      ...(isPublic ? [{ from: "edge", to: service, ports: [8080], why: "requests of users" }] : []),
      { from: "monitoring", to: service, ports: [8081], why: "metrics" },
      ...calls.map((to) => ({ from: service, to, ports: [8090], why: "internal calls" })),
      ...[...engines, "collector" as const].map(toEngine(service)),
      ...(outside === null ? [] : [{ from: service, to: "public addresses", ports: "any" as const, why: outside }]),
    ]),
    ...[...jobs, backupJob].flatMap(({ name, engines }) => engines.map(toEngine(name))),
    ...[...workloads.map(({ service }) => service), ...jobs.map(({ name }) => name), backupJob.name].map((from) => ({
      from,
      to: "DNS of the cluster",
      ports: [53],
      why: "names",
    })),
  ];
}

const engineReasons: Readonly<Record<EngineRole, string>> = {
  postgres: "tables",
  kafka: "events",
  redis: "limits, tokens and caches",
  blobs: "originals and variants",
  collector: "traces, where `telemetry.otlp-endpoint` names a receiver",
};

/** Writes the page of who may reach whom. */
export function networkPage(): string {
  const rows = networkEdges().map(
    ({ from, to, ports, why }) => `| ${from} | ${to} | ${ports === "any" ? "any" : ports.join(", ")} | ${why} |\n`,
  );
  return `# Who may reach whom

On Kubernetes nothing else comes through: each pod begins with *no traffic in, none out*, and these ways are opened by the policies of
\`k8s/base\`, of the component \`backup\` and of the chart. They are made from one table, \`infra/kubernetes/workloads.ts\`; a test asks an
analyzer of policies about every pair of pods and every port, and compares its answer with this page and with the addresses that the
properties of each service can name.

- *edge* is every pod of a namespace with the label \`signalbox.edge: "true"\`, *monitoring* one with \`signalbox.monitoring: "true"\`.
- *engine* is a pod with the label \`signalbox.engine\` in any namespace. Those outside of the cluster are named by address: in an overlay, or
  in \`networkPolicies.engines\` of the chart.
- *public addresses* are all but private, local, shared and multicast ones: a second barrier behind the guard of the process. A mail server
  inside of the house needs a rule of yours.
- The components \`strimzi\` and \`cloudnative-pg\` bring what their pods need among themselves and from their operators.

| from | to | port | for |
|---|---|---|---|
${rows.join("")}`;
}
