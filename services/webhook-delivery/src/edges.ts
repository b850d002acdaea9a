import type { Principal } from "@signalbox/auth";
import { createLoader } from "@signalbox/graphql";
import { type Edges, joinEdges } from "@signalbox/service";
import { type DeliveryFields, deliveryLoaders, deliveryResolvers } from "./deliveries/delivery-resolvers.ts";
import { type DeliveryRoutes, deliveryRoutes } from "./deliveries/delivery-routes.ts";
import type { DeliveryStore } from "./deliveries/delivery-store.ts";
import type { Endpoint } from "./endpoints/endpoint.ts";
import { type EndpointApi, endpointApi } from "./endpoints/endpoint-api.ts";
import type { EndpointStore } from "./endpoints/endpoint-store.ts";
import { type EventTypeFields, eventTypeResolvers } from "./event-types/event-type-resolvers.ts";
import { type EventTypeRoutes, eventTypeRoutes } from "./event-types/event-type-routes.ts";
import { type EventFields, eventResolvers } from "./events/event-resolvers.ts";
import { type EventRoutes, eventRoutes } from "./events/event-routes.ts";
import type { EventStore } from "./events/event-store.ts";
import { type ReplayFields, replayResolvers } from "./replays/replay-resolvers.ts";
import { type ReplayRoutes, replayRoutes } from "./replays/replay-routes.ts";
import { type SigningKeyApi, signingKeyApi } from "./signing-keys/signing-key-api.ts";

type Parts = EndpointApi &
  DeliveryRoutes &
  DeliveryFields &
  EventRoutes &
  EventFields &
  EventTypeRoutes &
  EventTypeFields &
  ReplayRoutes &
  ReplayFields &
  SigningKeyApi;

/** The routes of this service, and its fields of the graph. */
export const serviceEdges = (parts: Parts): Edges =>
  joinEdges([
    endpointApi(parts),
    { routes: deliveryRoutes(parts), resolvers: deliveryResolvers(parts) },
    { routes: eventRoutes(parts), resolvers: eventResolvers(parts) },
    { routes: eventTypeRoutes(parts), resolvers: eventTypeResolvers(parts) },
    { routes: replayRoutes(parts), resolvers: replayResolvers(parts) },
    signingKeyApi(parts),
  ]);

interface LoadedStores {
  readonly endpointStore: EndpointStore;
  readonly deliveryStore: DeliveryStore;
  readonly eventStore: EventStore;
}

/** Creates the loaders of one request. They find only rows of the caller's account. */
export const loadersOf = (stores: LoadedStores) => (principal: Principal | null) => ({
  ...deliveryLoaders(stores, principal),
  endpoint: createLoader<Endpoint>(
    async (ids) => (principal ? stores.endpointStore.findMany(principal.accountId, ids) : []),
    ({ id }) => id,
  ),
});
