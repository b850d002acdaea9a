import { readFile } from "node:fs/promises";
import { ApolloGateway } from "@apollo/gateway";
import type { AccessStates } from "@signalbox/auth";
import { setVariable } from "@signalbox/config";
import type { Clock } from "@signalbox/core";
import type { InternalClient } from "@signalbox/net";
import type { Logger, Metrics, Tracer } from "@signalbox/telemetry";
import type { GraphQLSchema } from "graphql";
import { createSubgraphDataSource } from "./subgraph-data-source.ts";

/** Composed from the services' schema.graphql by `npm run generate`. */
const supergraphFile = new URL("../generated/supergraph.graphql", import.meta.url);

/** Counted by the length of a plan as JSON; in memory it takes three times that. */
const planStoreMiB = 10;

type Executor = Awaited<ReturnType<ApolloGateway["load"]>>["executor"];

export interface Supergraph {
  readonly schema: GraphQLSchema;
  readonly execute: Executor;
  close(): Promise<void>;
}

/**
 * Opens the composed graph. The composition was checked when it was generated, so a subgraph that is away now does not
 * keep the gateway from starting: its fields fail alone.
 */
export async function openSupergraph({
  clients,
  accessStates,
  tracer,
  clock,
  metrics,
  log,
}: {
  clients: ReadonlyMap<string, InternalClient>;
  accessStates: Pick<AccessStates, "apply">;
  tracer: Tracer;
  clock: Clock;
  metrics: Metrics;
  log: Logger;
}): Promise<Supergraph> {
  // Else it reports to its vendor, and asks the metadata services of three clouds where it runs.
  setVariable("APOLLO_TELEMETRY_DISABLED", "1");
  const gateway: ApolloGateway = new ApolloGateway({
    supergraphSdl: await readFile(supergraphFile, "utf8"),
    // What a failed fetch would have brought is read from its document.
    queryPlannerConfig: { exposeDocumentNodeInFetchNode: true },
    experimental_approximateQueryPlanStoreMiB: planStoreMiB,
    // The gateway logs each failed fetch itself; we log one line per operation, so only its warnings pass.
    logger: { debug() {}, info() {}, warn: (message) => log.warn({}, String(message)), error() {} },
    buildService: ({ name }) => {
      const client = clients.get(name);
      if (client === undefined) throw new Error(`the supergraph names a subgraph that is not configured: ${name}`);
      return createSubgraphDataSource({ name, client, accessStates, tracer, clock, metrics, schema: () => schema });
    },
  });
  const { schema, executor }: { schema: GraphQLSchema; executor: Executor } = await gateway.load();
  return { schema, execute: executor, close: () => gateway.stop() };
}
