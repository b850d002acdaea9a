import type { Principal } from "@signalbox/auth";
import { connectionField, createLoader, field, type Load, type PageLimits, type Resolvers } from "@signalbox/graphql";
import { ingestPathOf, type Source, viewSource } from "./source.ts";
import { type SourceMutations, sourceMutations } from "./source-mutations.ts";
import type { SourceStore } from "./source-store.ts";

export interface SourceLoaders {
  readonly source: Load<Source>;
}

export interface SourceFields extends SourceMutations {
  readonly pageLimits: PageLimits;
}

const read = { scopes: ["webhooks:read"] } as const;

/** GraphQL fields of the sources of an account. */
export function sourceResolvers({ pageLimits, ...operations }: SourceFields): Resolvers<SourceLoaders> {
  const { sourceStore } = operations;
  return {
    Mutation: sourceMutations(operations),
    Account: {
      webhookSources: connectionField(
        { ...read, ownOnly: true },
        { limits: pageLimits, read: (range, { id }: { readonly id: string }) => sourceStore.list(id, range) },
      ),
    },
    WebhookSource: {
      __resolveReference: field(read, ({ id }: { readonly id: string }, _, { loaders }) => loaders.source(id)),
      ingestPath: ingestPathOf,
      overlapsEndAt: ({ formerSecretsEndAt }: Source) => formerSecretsEndAt,
      formerIngestPaths: (source: Source) =>
        viewSource(source).former_ingest_paths?.map(({ ingest_path: ingestPath, ends_at: endsAt }) => ({
          ingestPath,
          endsAt,
        })),
    },
  };
}

/** Creates the loaders of one request. They find only rows of the caller's account. */
export const sourceLoaders =
  (sourceStore: SourceStore) =>
  (principal: Principal | null): SourceLoaders => ({
    source: createLoader(
      async (ids) => (principal ? sourceStore.findMany(principal.accountId, ids) : []),
      ({ id }) => id,
    ),
  });
