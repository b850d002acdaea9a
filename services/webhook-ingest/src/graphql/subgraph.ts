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
import type { Verbs } from "../service.ts";
import { ingestPathOf, type Source } from "../sources/source.ts";
import { readSourceCursor, sourceCursor } from "../sources/source-routes.ts";

const schemaFile = new URL("../../schema.graphql", import.meta.url);

/** This service's part of the graph. */
export async function createIngestSubgraph(verbs: Verbs, log: Logger): Promise<RequestListener> {
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
export function resolversOf({ sources, limits }: Verbs) {
  /** An account shows its sources to itself alone. */
  function reader(context: SubgraphContext<unknown>): string {
    const principal = requirePrincipal(context);
    requireScopes(principal, ["webhooks:read"]);
    requireState(principal, "read");
    return principal.accountId;
  }
  return {
    Account: {
      webhookSources: async (
        account: { id: string },
        given: { first?: number; after?: string },
        context: SubgraphContext<unknown>,
      ) => {
        const accountId = reader(context);
        const bounds = { maxPageSize: limits.maxPageSize(), defaultPageSize: limits.pageSize() };
        const { limit, cursor } = connectionArguments(given, bounds);
        if (account.id !== accountId) return connection<Source>({ items: [], hasMore: false }, sourceCursor);
        const rows = await sources.list(accountId, limit, cursor === null ? undefined : readSourceCursor(cursor));
        return connection({ items: rows.slice(0, limit), hasMore: rows.length > limit }, sourceCursor);
      },
    },
    WebhookSource: {
      __resolveReference: async ({ id }: { id: string }, _arguments: unknown, context: SubgraphContext<unknown>) =>
        sources.find(reader(context), id),
      ingestPath: ({ id }: Source) => ingestPathOf(id),
    },
  };
}
