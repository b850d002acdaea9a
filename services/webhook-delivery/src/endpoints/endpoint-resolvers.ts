import { readFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { requireScopes, requireState } from "@signalbox/auth";
import { systemClock } from "@signalbox/core";
import {
  connection,
  connectionArguments,
  createSubgraph,
  requirePrincipal,
  type SubgraphContext,
} from "@signalbox/graphql";
import type { Logger } from "@signalbox/telemetry";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { endpointCursor, readEndpointCursor } from "../endpoints/endpoint-routes.ts";
import type { Verbs } from "../service.ts";

const schemaFile = new URL("../../schema.graphql", import.meta.url);

type Context = SubgraphContext<unknown>;

/** This service's part of the graph. */
export async function createDeliverySubgraph(verbs: Verbs, log: Logger): Promise<RequestListener> {
  const typeDefs = await readFile(schemaFile, "utf8");
  return createSubgraph({
    typeDefs,
    log,
    clock: systemClock,
    createLoaders: () => ({}),
    resolvers: resolversOf(verbs),
  });
}

/** What every field answers, and to whom. */
export function resolversOf({ endpoints, limits }: Verbs) {
  /** An account shows its endpoints to itself alone. */
  function reader(context: Context): string {
    const principal = requirePrincipal(context);
    requireScopes(principal, ["webhooks:read"]);
    requireState(principal, "read");
    return principal.accountId;
  }
  return {
    Account: {
      webhookEndpoints: async (
        account: { id: string },
        given: { first?: number; after?: string },
        context: Context,
      ) => {
        const accountId = reader(context);
        const bounds = { maxPageSize: limits.maxPageSize(), defaultPageSize: limits.pageSize() };
        const { limit, cursor } = connectionArguments(given, bounds);
        if (account.id !== accountId) return connection<Endpoint>({ items: [], hasMore: false }, endpointCursor);
        const after = cursor === null ? undefined : readEndpointCursor(cursor);
        const rows = await endpoints.list(accountId, limit, after);
        return connection({ items: rows.slice(0, limit), hasMore: rows.length > limit }, endpointCursor);
      },
    },
    WebhookEndpoint: {
      __resolveReference: ({ id }: { id: string }, _arguments: unknown, context: Context) =>
        endpoints.find(reader(context), id),
    },
  };
}
