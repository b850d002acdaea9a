import { createRoutes, type Routes } from "@signalbox/http";
import { ingestRoutes } from "./receiving/ingest-routes.ts";
import { receivedRoutes } from "./receiving/received-routes.ts";
import type { Verbs } from "./service.ts";
import { sourceRoutes } from "./sources/source-routes.ts";

/** Everything this service answers over HTTP. */
export function createServiceRoutes(verbs: Verbs): Routes {
  const routes = createRoutes();
  routes.include(ingestRoutes(verbs));
  routes.include(sourceRoutes(verbs));
  routes.include(receivedRoutes(verbs));
  return routes;
}
