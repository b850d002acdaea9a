import { type Edges, joinEdges } from "@signalbox/service";
import { bookmarkApi } from "./bookmarks/bookmarks.ts";
import type { IngestService } from "./context/ingest-service.ts";
import { loadOwnReceived, receivedApi } from "./received/received-api.ts";
import { explainApi } from "./receiving/explain-webhook.ts";
import { ingestRoutes } from "./receiving/ingest-routes.ts";
import { reconciliationApi } from "./reconciling/reconciliations.ts";
import { senderKeyApi } from "./reconciling/sender-keys.ts";
import { rejectionApi } from "./rejections/rejections.ts";
import { rejectionRetryApi } from "./replays/rejection-retries.ts";
import { replayApi } from "./replays/replays.ts";
import { loadOwnSource } from "./sources/own-source.ts";
import { presetApi } from "./sources/preset-api.ts";
import { sourceApi } from "./sources/source-api.ts";
import { statisticsApi } from "./statistics/statistics-api.ts";

export function serviceEdges(service: IngestService): Edges {
  const loadSource = loadOwnSource(service);
  const loadReceived = loadOwnReceived(service);
  return joinEdges([
    { routes: ingestRoutes(service) },
    // Before the paths of sources, which would take `statistics` for an id.
    statisticsApi(service),
    sourceApi(service, loadSource),
    senderKeyApi(service),
    presetApi(service),
    receivedApi(service, loadReceived, loadSource),
    bookmarkApi(service),
    rejectionRetryApi(service),
    rejectionApi(service, loadReceived),
    replayApi(service),
    reconciliationApi(service),
    explainApi(service),
  ]);
}
