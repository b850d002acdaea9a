import type { Principal } from "@signalbox/auth";
import {
  connectionField,
  createLoader,
  field,
  filterFrom,
  type Load,
  type PageLimits,
  type Resolvers,
} from "@signalbox/graphql";
import { z } from "zod";
import type { SourceLoaders } from "../sources/source-resolvers.ts";
import { bodyPathOf, positionOfReceived, receivedFilter, receivedFilterOf } from "./received-routes.ts";
import type { ListedDelivery, ReceivedStore } from "./received-store.ts";

interface ReceivedLoaders {
  readonly received: Load<ListedDelivery>;
}

export interface ReceivedFields {
  readonly receivedStore: ReceivedStore;
  readonly pageLimits: PageLimits;
}

interface Named {
  readonly id: string;
}

const read = { scopes: ["webhooks:read"] } as const;
const Filter = z.strictObject({ ...receivedFilter, forwarded: z.boolean().optional() });

/** GraphQL fields of received webhooks. */
export function receivedResolvers({
  receivedStore,
  pageLimits,
}: ReceivedFields): Resolvers<ReceivedLoaders & SourceLoaders> {
  return {
    WebhookSource: {
      received: connectionField(read, {
        limits: pageLimits,
        readMany: (range, sourceIds, _context, args: object) =>
          receivedStore.list(sourceIds, range, receivedFilterOf(filterFrom(Filter, args))),
        parentId: ({ sourceId }: ListedDelivery) => sourceId,
        position: positionOfReceived,
      }),
    },
    ReceivedWebhook: {
      __resolveReference: field(read, ({ id }: Named, _, { loaders }) => loaders.received(id)),
      deliveryIdSigned: ({ isIdSigned }: ListedDelivery) => isIdSigned,
      eventTypeSigned: ({ isTypeSigned }: ListedDelivery) => isTypeSigned,
      bodyPath: bodyPathOf,
      source: ({ sourceId }: ListedDelivery, _, { loaders }) => loaders.source(sourceId),
    },
  };
}

export const receivedLoaders = (receivedStore: ReceivedStore, principal: Principal | null): ReceivedLoaders => ({
  received: createLoader(
    async (ids) => (principal ? receivedStore.findOwnMany(principal.accountId, ids) : []),
    ({ id }) => id,
  ),
});
