import { createRoutes, type Routes } from "@signalbox/http";
import { type IngestRoutes, ingestRoutes } from "./receiving/ingest-routes.ts";
import { type ReceivedRoutes, receivedRoutes } from "./receiving/received-routes.ts";
import { type RejectionRoutes, rejectionRoutes } from "./rejections/rejection-routes.ts";
import { type ReplayRoutes, replayRoutes } from "./replays/replay-routes.ts";
import { type SourceRoutes, sourceRoutes } from "./sources/source-routes.ts";

export function createServiceRoutes(
  parts: IngestRoutes & SourceRoutes & ReceivedRoutes & RejectionRoutes & ReplayRoutes,
): Routes {
  const routes = createRoutes();
  routes.include(ingestRoutes(parts));
  routes.include(sourceRoutes(parts));
  routes.include(receivedRoutes(parts));
  routes.include(rejectionRoutes(parts));
  routes.include(replayRoutes(parts));
  return routes;
}
