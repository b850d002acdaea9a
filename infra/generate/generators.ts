import { builtGenerators } from "./built-generators.ts";
import type { Generator } from "./generator.ts";
import { accessReference } from "./generators/access-reference.ts";
import { auditReference } from "./generators/audit-reference.ts";
import { commandReference } from "./generators/command-reference.ts";
import { consoleFiles } from "./generators/console-files.ts";
import { errorReference, eventReference } from "./generators/contract-references.ts";
import { graphReference } from "./generators/graph-reference.ts";
import { metricsReference } from "./generators/metrics-reference.ts";
import { observeFiles } from "./generators/observe-files.ts";
import { keptPrismaClients } from "./generators/prisma-clients.ts";
import { propertyPage } from "./generators/property-files.ts";
import { propertyLists } from "./generators/property-lists.ts";
import { runbookCommands } from "./generators/runbook-commands.ts";
import { subgraphs } from "./generators/subgraphs.ts";

/** Of the container `edge-exporter` in docker-compose.yml, which has it alone. */
const edgeExporterAddress = "172.30.88.250:5514";

/** The edge of docker-compose.yml, from the table of edge routes. */
const nginxConfigurationFile: Generator = {
  name: "nginx configuration",
  kind: "committed",
  folders: async () => [],
  generate: async () => {
    const { nginxConfiguration } = await import("../edge/nginx-configuration.ts");
    const { edgeRoutes } = await import("../edge/edge-routes.ts");
    const upstreams = Object.fromEntries(edgeRoutes.map(({ service }) => [service, `${service}:8080`]));
    const content = nginxConfiguration({
      upstreams,
      listen: "8080",
      listenForStatus: "8082",
      listenFiles: "/etc/signalbox/listen/*.conf",
      workDirectory: "/run/edge",
      accessLog: "/dev/stdout",
      exporter: edgeExporterAddress,
      // Docker's own DNS server, which resolves the replicas of a service.
      resolver: "127.0.0.11",
    });
    return new Map([["infra/nginx/nginx.conf", content]]);
  },
};

/** The newest figure of each benchmark, from the history that the benchmarks append to. */
const performanceReference: Generator = {
  name: "performance reference",
  kind: "committed",
  folders: async () => [],
  generate: async () => {
    const { performancePage } = await import("../../bench/performance-page.ts");
    const { historyFile, readHistory } = await import("../../bench/history.ts");
    return new Map([["docs/reference/performance.md", performancePage(await readHistory(historyFile))]]);
  },
};

/** Every generated file of the repository comes from one of these. */
export const generators: readonly Generator[] = [
  // Before the supergraph, which is composed from the files that it writes.
  subgraphs,
  ...builtGenerators,
  keptPrismaClients,
  consoleFiles,
  propertyLists,
  propertyPage,
  accessReference,
  auditReference,
  errorReference,
  eventReference,
  metricsReference,
  graphReference,
  observeFiles,
  runbookCommands,
  commandReference,
  performanceReference,
  nginxConfigurationFile,
];
