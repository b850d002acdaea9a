import { createRoutes, type Routes } from "@signalbox/http";
import { type DeliveryRoutes, deliveryRoutes } from "./deliveries/delivery-routes.ts";
import { type EndpointActionRoutes, endpointActionRoutes } from "./endpoints/endpoint-action-routes.ts";
import { type EndpointRoutes, endpointRoutes } from "./endpoints/endpoint-routes.ts";
import { type EventTypeRoutes, eventTypeRoutes } from "./event-types/event-type-routes.ts";
import { type EventRoutes, eventRoutes } from "./events/event-routes.ts";
import { type ReplayRoutes, replayRoutes } from "./replays/replay-routes.ts";
import { type SigningKeyRoutes, signingKeyRoutes } from "./signing-keys/signing-key-routes.ts";

/** REST routes of this service. */
export function createServiceRoutes(
  parts: EndpointRoutes &
    EndpointActionRoutes &
    DeliveryRoutes &
    EventRoutes &
    SigningKeyRoutes &
    ReplayRoutes &
    EventTypeRoutes,
): Routes {
  const routes = createRoutes();
  routes.include(endpointRoutes(parts));
  routes.include(endpointActionRoutes(parts));
  routes.include(deliveryRoutes(parts));
  routes.include(eventRoutes(parts));
  routes.include(eventTypeRoutes(parts));
  routes.include(signingKeyRoutes(parts));
  routes.include(replayRoutes(parts));
  return routes;
}
