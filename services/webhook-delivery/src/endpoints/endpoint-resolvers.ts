import type { Principal } from "@signalbox/auth";
import { connectionField, createLoader, field, type Load, type PageLimits, type Resolvers } from "@signalbox/graphql";
import type { Endpoint } from "./endpoint.ts";
import { type EndpointMutations, endpointMutations } from "./endpoint-mutations.ts";
import type { EndpointStore } from "./endpoint-store.ts";

export interface EndpointLoaders {
  readonly endpoint: Load<Endpoint>;
}

export interface EndpointFields extends EndpointMutations {
  readonly pageLimits: PageLimits;
}

const read = { scopes: ["webhooks:read"] } as const;

/** GraphQL fields of the endpoints of an account. */
export function endpointResolvers({ pageLimits, ...operations }: EndpointFields): Resolvers<EndpointLoaders> {
  const { endpointStore } = operations;
  return {
    Mutation: endpointMutations(operations),
    Account: {
      webhookEndpoints: connectionField(
        { ...read, ownOnly: true },
        { limits: pageLimits, read: (range, { id }: { readonly id: string }) => endpointStore.list(id, range) },
      ),
    },
    WebhookEndpoint: {
      __resolveReference: field(read, ({ id }: { readonly id: string }, _, { loaders }) => loaders.endpoint(id)),
    },
  };
}

/** Creates the loaders of one request. They find only rows of the caller's account. */
export const endpointLoaders = (endpointStore: EndpointStore, principal: Principal | null): EndpointLoaders => ({
  endpoint: createLoader(
    async (ids) => (principal ? endpointStore.findMany(principal.accountId, ids) : []),
    ({ id }) => id,
  ),
});
