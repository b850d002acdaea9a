import { historyFile, readHistory } from "../../bench/history.ts";
import { performancePage } from "../../bench/performance-page.ts";
import { edgeRoutes } from "../edge/edge-routes.ts";
import { nginxConfiguration } from "../edge/nginx-configuration.ts";
import { rulesFiles } from "../observe/alerts/rules-file.ts";
import { builtGenerators } from "./built-generators.ts";
import { fileGenerator, type Generator } from "./generator.ts";
import { accessReference } from "./generators/access-reference.ts";
import { auditReference } from "./generators/audit-reference.ts";
import { commandReference } from "./generators/command-reference.ts";
import { consoleFiles } from "./generators/console-files.ts";
import { errorReference, eventReference } from "./generators/contract-references.ts";
import { graphReference } from "./generators/graph-reference.ts";
import { metricsReference } from "./generators/metrics-reference.ts";
import { keptPrismaClients } from "./generators/prisma-clients.ts";
import { propertyLists, propertyPage } from "./generators/property-files.ts";
import { subgraphs } from "./generators/subgraphs.ts";

/** Of the container `edge-exporter` in docker-compose.yml, which has it alone. */
const edgeExporterAddress = "172.30.88.250:5514";

/** The edge of docker-compose.yml, from the table of edge routes. */
const nginxConfigurationFile = fileGenerator("infra/edge/nginx.conf", () =>
  nginxConfiguration({
    upstreams: Object.fromEntries(edgeRoutes.map(({ service }) => [service, `${service}:8080`])),
    listen: "8080",
    listenForStatus: "8082",
    listenFiles: "/etc/signalbox/listen/*.conf",
    workDirectory: "/run/edge",
    accessLog: "/dev/stdout",
    exporter: edgeExporterAddress,
    // Docker's own DNS server, which resolves the replicas of a service.
    resolver: "127.0.0.11",
  }),
);

/** The newest figure of each benchmark, from the history that the benchmarks append to. */
const performanceReference = fileGenerator("docs/reference/performance.md", async () =>
  performancePage(await readHistory(historyFile)),
);

/** The rules of Prometheus. */
const prometheusRules: Generator = {
  name: "rules",
  folders: async () => ["infra/observe/rules"],
  generate: async () =>
    new Map(Object.entries(rulesFiles()).map(([name, text]) => [`infra/observe/rules/${name}`, text])),
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
  prometheusRules,
  commandReference,
  performanceReference,
  nginxConfigurationFile,
];
