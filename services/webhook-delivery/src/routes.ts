import { createRoutes, type Routes } from "@signalbox/http";
import { deliveryRoutes } from "./deliveries/delivery-routes.ts";
import { endpointActionRoutes } from "./endpoints/endpoint-action-routes.ts";
import { endpointRoutes } from "./endpoints/endpoint-routes.ts";
import type { Verbs } from "./service.ts";

/** Everything this service answers over HTTP. */
export function createServiceRoutes(verbs: Verbs): Routes {
  const routes = createRoutes();
  routes.include(endpointRoutes(verbs));
  routes.include(endpointActionRoutes(verbs));
  routes.include(deliveryRoutes(verbs));
  return routes;
}
