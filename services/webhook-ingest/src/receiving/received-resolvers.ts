import type { Principal } from "@signalbox/auth";
import { connectionField, createLoader, field, type Load, type PageLimits, type Resolvers } from "@signalbox/graphql";
import type { SourceLoaders } from "../sources/source-resolvers.ts";
import { bodyPathOf, positionOfReceived } from "./received-routes.ts";
import type { ListedDelivery, ReceivedFilter, ReceivedStore } from "./received-store.ts";

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

interface FilterArguments extends Pick<ReceivedFilter, "eventType" | "deliveryId" | "forwarded"> {
  readonly from?: Date | null;
  readonly to?: Date | null;
}

const read = { scopes: ["webhooks:read"] } as const;

/** What sources received, in the graph. */
export function receivedResolvers({
  receivedStore,
  pageLimits,
}: ReceivedFields): Resolvers<ReceivedLoaders & SourceLoaders> {
  return {
    WebhookSource: {
      received: connectionField(read, {
        limits: pageLimits,
        read: (range, { id }: Named, _context, filter: FilterArguments) =>
          receivedStore.list(id, range, filterOf(filter)),
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

/** An argument that is null narrows nothing, as one that is absent. */
const filterOf = ({ eventType, deliveryId, forwarded, from, to }: FilterArguments): ReceivedFilter => ({
  eventType: eventType ?? undefined,
  deliveryId: deliveryId ?? undefined,
  forwarded: forwarded ?? undefined,
  since: from ?? undefined,
  until: to ?? undefined,
});

export const receivedLoaders = (receivedStore: ReceivedStore, principal: Principal | null): ReceivedLoaders => ({
  received: createLoader(
    async (ids) => (principal ? receivedStore.findOwnMany(principal.accountId, ids) : []),
    ({ id }) => id,
  ),
});
