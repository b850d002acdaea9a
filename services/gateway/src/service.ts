import { internalTokenHeader } from "@signalbox/auth";
import { MiB } from "@signalbox/core";
import { createHttpApp, openApiDocument } from "@signalbox/http";
import { createInternalClient, type InternalClient } from "@signalbox/net";
import type { ServiceContext, ServiceParts } from "@signalbox/runtime";
import { ConfigurationError } from "@signalbox/runtime";
import {
  type EdgeLimits,
  followConfiguration,
  followServiceClock,
  openAccess,
  openEdgeLimits,
  openServiceLog,
} from "@signalbox/service";
import { consolePath, createConsoleListener } from "./console/console-listener.ts";
import { schemaReads } from "./docs/schema-registry-routes.ts";
import { openDocuments, openTrustedDocuments, type TrustedDocuments } from "./documents/persisted-query-store.ts";
import { serviceEdges } from "./edges.ts";
import { openLive } from "./live/open-live.ts";
import { createMergedOpenapi, openapiRoutes } from "./openapi/merged-openapi.ts";
import { askedServices, createAskServices } from "./operating/ask-services.ts";
import { createCostLimits } from "./operations/cost-limits.ts";
import { createOperations, type Operations } from "./operations/operations.ts";
import type { Properties } from "./properties.ts";
import type { CurrentSupergraph } from "./supergraph/current-supergraph.ts";
import { openSupergraph } from "./supergraph/open-supergraph.ts";

/** Largest number of concurrent fetches from one subgraph; others wait, each until its deadline. */
const fetchesMax = 64;

/** Serves one graph over the services' subgraphs. */
export async function createService(context: ServiceContext<Properties>): Promise<ServiceParts> {
  const { configuration, runner, clock } = context;
  const eventLog = await openServiceLog(context);
  await followConfiguration(context, eventLog);
  const { rateLimits, limiterOf } = await openEdgeLimits(context, [schemaReads]);
  const access = await openAccess(context, eventLog, rateLimits);
  const { authenticator, accessStates, authorizeManagement, onForbidden } = access;

  const clients = openSubgraphClients(context);
  const ask = createAskServices(clients);
  const location = configuration.get("graphql.supergraph");
  const supergraph = await openSupergraph({
    ...context,
    location,
    clients,
    ask,
    work: rateLimits.work,
    accessStates,
  }).catch((error: Error) => {
    if (location === null) throw error;
    throw unreadable("graphql.supergraph", location, `a supergraph: ${error.message}`);
  });
  runner.defer("supergraph", () => supergraph.close());
  const operations = await openOperations(context, { limiterOf, rateLimits, supergraph });
  const openapi = { title: "Signalbox query endpoint", version: "1" };
  const schema = () => supergraph.schema;
  const live = await openLive({ context, eventLog, operations, schema, authenticator, accessStates, rateLimits });
  const mounts = { [consolePath]: createConsoleListener(configuration) };
  const { routes } = serviceEdges({ configuration, clock, operations, live, ask, schema });
  const own = openApiDocument(routes, openapi);
  routes.include(openapiRoutes(createMergedOpenapi({ clients, own, clock })));
  return {
    public: createHttpApp({ context, routes, authenticator, rateLimits, openapi, mounts, onForbidden }),
    upgrade: (request, socket, head) => live.sockets.upgrade(request, socket, head),
    authorizeManagement,
  };
}

async function openOperations(
  context: ServiceContext<Properties>,
  { limiterOf, rateLimits, supergraph }: Omit<EdgeLimits, "cache"> & { readonly supergraph: CurrentSupergraph },
): Promise<Operations> {
  const { configuration } = context;
  const isEnforced = configuration.get("graphql.limits.mode") === "enforce";
  const costLimits = createCostLimits({
    limiterOf,
    windows: {
      credential: configuration.get("graphql.limits.cost-window"),
      anonymous: configuration.get("graphql.limits.anonymous-cost-window"),
    },
    costMax: isEnforced ? () => configuration.get("graphql.limits.cost") : () => null,
    pageSize: () => Math.min(configuration.get("defaults.pageSize"), configuration.get("limits.maxPageSize")),
  });
  return createOperations({
    ...context,
    supergraph,
    documents: openDocuments(configuration.get("graphql.documents"), await openManifest(context)),
    limits: () => ({
      depthMax: configuration.get("graphql.limits.depth"),
      aliasesMax: configuration.get("graphql.limits.aliases"),
      rootFieldsMax: configuration.get("graphql.limits.root-fields"),
      directivesMax: configuration.get("graphql.limits.directives"),
      tokensMax: configuration.get("graphql.limits.tokens"),
      introspection: configuration.get("graphql.introspection"),
    }),
    anonymousTokensMax: () => configuration.get("graphql.limits.anonymous-tokens"),
    documentCacheBytesMax: configuration.get("graphql.document-cache.bytes-max"),
    costLimits,
    work: rateLimits.work,
    responseBytesMax: () => configuration.get("graphql.limits.response"),
    deadlineMs: configuration.get("graphql.deadline"),
  });
}

/** Opens the manifest of trusted documents; null when every document is allowed. */
async function openManifest({
  configuration,
  ...context
}: ServiceContext<Properties>): Promise<TrustedDocuments | null> {
  if (configuration.get("graphql.documents") !== "trusted") return null;
  const property = "graphql.trusted-documents";
  const value = configuration.get(property);
  if (value === null) throw unreadable(property, "", "a manifest for graphql.documents=trusted");
  return openTrustedDocuments(value, context).catch((error: Error) => {
    throw unreadable(property, value, `a readable manifest: ${error.message}`);
  });
}

const unreadable = (property: string, value: string, expected: string) =>
  new ConfigurationError([{ property, source: "the start", value, expected }]);

/** Opens the clients of all services, and takes the time of one: the gateway has no database. */
function openSubgraphClients(context: ServiceContext<Properties>): ReadonlyMap<string, InternalClient> {
  const { configuration, runner, metrics, log } = context;
  const clients = new Map<string, InternalClient>();
  for (const name of askedServices) {
    const client = createInternalClient({
      url: configuration.get(`${name}.internal-url`),
      headers: () => ({ [internalTokenHeader]: configuration.get("internal.token")[0] ?? "" }),
      deadlineMs: configuration.get("graphql.subgraph-deadline"),
      responseBytesMax: 16 * MiB,
      connections: fetchesMax,
    });
    runner.defer(`${name} client`, () => client.close());
    clients.set(name, client);
  }
  followServiceClock({ client: clients.get("account") as InternalClient, runner, metrics, log });
  return clients;
}
