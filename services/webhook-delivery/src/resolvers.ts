import type { Principal } from "@signalbox/auth";
import { mutation, type Resolvers, refusalError } from "@signalbox/graphql";
import { type DeliveryFields, deliveryLoaders, deliveryResolvers } from "./deliveries/delivery-resolvers.ts";
import type { DeliveryStore } from "./deliveries/delivery-store.ts";
import { OverlapBody } from "./endpoints/endpoint-bodies.ts";
import { type EndpointFields, endpointLoaders, endpointResolvers } from "./endpoints/endpoint-resolvers.ts";
import type { EndpointStore } from "./endpoints/endpoint-store.ts";
import { type EventTypeFields, eventTypeResolvers } from "./event-types/event-type-resolvers.ts";
import { type EventFields, eventResolvers } from "./events/event-resolvers.ts";
import type { EventStore } from "./events/event-store.ts";
import { tooManyKeys } from "./refusals.ts";
import { type ReplayFields, replayResolvers } from "./replays/replay-resolvers.ts";
import type { SigningKeys } from "./signing-keys/signing-keys.ts";

interface KeyFields {
  readonly signingKeys: SigningKeys;
}

type Fields = EndpointFields & DeliveryFields & EventFields & EventTypeFields & ReplayFields & KeyFields;
type Loaders = ReturnType<ReturnType<typeof loadersOf>>;

/** GraphQL fields of this service, merged by type from all its capabilities. */
export function resolversOf(fields: Fields): Resolvers<Loaders> {
  const parts: readonly Resolvers<Loaders>[] = [
    endpointResolvers(fields),
    deliveryResolvers(fields),
    eventResolvers(fields),
    eventTypeResolvers(fields),
    replayResolvers(fields),
    keyResolvers(fields),
  ];
  const types = [...new Set(parts.flatMap((part) => Object.keys(part)))];
  return Object.fromEntries(types.map((type) => [type, Object.assign({}, ...parts.map((part) => part[type]))]));
}

/** GraphQL field of signing keys. The public keys are read over REST, without a sign-in. */
const keyResolvers = ({ signingKeys }: KeyFields): Resolvers<unknown> => ({
  Mutation: {
    rotateWebhookSigningKey: mutation(
      {
        ...{ scopes: ["webhooks:write"], stepUp: true, audit: "webhook_signing_key.rotate" },
        ...{ input: OverlapBody, payload: "webhookSigningKey" },
      },
      async ({ overlap_seconds: overlapSeconds }, { caller, inTransaction }) => {
        const result = await inTransaction((tx) => signingKeys.rotate(tx, caller, overlapSeconds));
        if (result.outcome !== "rotated") throw refusalError(tooManyKeys(result));
        return result.key;
      },
    ),
  },
});

interface LoadedStores {
  readonly endpointStore: EndpointStore;
  readonly deliveryStore: DeliveryStore;
  readonly eventStore: EventStore;
}

/** Creates the loaders of one request. They find only rows of the caller's account. */
export const loadersOf = (stores: LoadedStores) => (principal: Principal | null) => ({
  ...endpointLoaders(stores.endpointStore, principal),
  ...deliveryLoaders(stores, principal),
});
