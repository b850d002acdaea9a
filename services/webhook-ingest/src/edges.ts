import { type Edges, joinEdges } from "@signalbox/service";
import { type BookmarkApi, bookmarkApi } from "./bookmarks/bookmark-api.ts";
import { type ExplainApi, explainApi } from "./receiving/explain-webhook.ts";
import { type IngestRoutes, ingestRoutes } from "./receiving/ingest-routes.ts";
import { ownReceived, type ReceivedApi, receivedApi } from "./receiving/received-api.ts";
import { type ReconciliationApi, reconciliationApi } from "./reconciling/reconciliation-api.ts";
import { type RejectionApi, rejectionApi } from "./rejections/rejection-api.ts";
import { type ReplayApi, replayApi } from "./replays/replay-api.ts";
import { type PresetApi, presetApi } from "./sources/preset-api.ts";
import { ownSources, type SourceApi, sourceApi } from "./sources/source-api.ts";
import { type StatisticsApi, statisticsApi } from "./statistics/source-statistics.ts";

interface Parts
  extends SourceApi,
    PresetApi,
    ReceivedApi,
    BookmarkApi,
    RejectionApi,
    ReplayApi,
    ReconciliationApi,
    ExplainApi,
    StatisticsApi {
  readonly receiving: IngestRoutes;
}

/** The routes of this service, and its fields of the graph. */
export function serviceEdges(parts: Parts): Edges {
  const loadSource = ownSources(parts.sourceStore);
  const loadReceived = ownReceived(parts.receivedStore);
  return joinEdges([
    { routes: ingestRoutes(parts.receiving) },
    // Before the paths of sources, which would take `statistics` for an id.
    statisticsApi(parts),
    sourceApi(parts, loadSource),
    presetApi(parts),
    receivedApi(parts, loadReceived, loadSource),
    bookmarkApi(parts),
    rejectionApi(parts, loadReceived),
    replayApi(parts),
    reconciliationApi(parts),
    explainApi(parts),
  ]);
}
