import type { Principal } from "@signalbox/auth";
import { connectionField, createLoader, field, type Load, type PageLimits, type Resolvers } from "@signalbox/graphql";
import type { Endpoint } from "./endpoint.ts";
import type { EndpointStore } from "./endpoint-store.ts";

interface Loaders {
  readonly endpoint: Load<Endpoint>;
}

interface EndpointFields {
  readonly endpointStore: EndpointStore;
  readonly pageLimits: PageLimits;
}

const read = { scopes: ["webhooks:read"] } as const;

/** The endpoints of an account in the graph. */
export function resolversOf({ endpointStore, pageLimits }: EndpointFields): Resolvers<Loaders> {
  return {
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

/** The loaders of one request: they find what belongs to whoever makes it. */
export const endpointLoaders =
  (endpointStore: EndpointStore) =>
  (principal: Principal | null): Loaders => ({
    endpoint: createLoader(
      async (ids) => (principal ? endpointStore.findMany(principal.accountId, ids) : []),
      ({ id }) => id,
    ),
  });
