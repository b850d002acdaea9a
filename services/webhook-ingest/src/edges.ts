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

interface Parts {
  readonly receiving: {
    readonly routes: IngestRoutes;
    readonly received: ReceivedApi;
    readonly bookmarks: BookmarkApi;
    readonly explain: ExplainApi;
  };
  readonly sources: SourceApi;
  readonly presets: PresetApi;
  readonly rejections: RejectionApi;
  readonly replays: ReplayApi;
  readonly reconciliations: ReconciliationApi;
  readonly statistics: StatisticsApi;
}

/** The routes of this service, and its fields of the graph. */
export function serviceEdges(parts: Parts): Edges {
  const { receiving, sources, presets, rejections, replays, reconciliations, statistics } = parts;
  const loadSource = ownSources(sources.sourceStore);
  const loadReceived = ownReceived(receiving.received.receivedStore);
  return joinEdges([
    { routes: ingestRoutes(receiving.routes) },
    // Before the paths of sources, which would take `statistics` for an id.
    statisticsApi(statistics),
    sourceApi(sources, loadSource),
    presetApi(presets),
    receivedApi(receiving.received, loadReceived, loadSource),
    bookmarkApi(receiving.bookmarks),
    rejectionApi(rejections, loadReceived),
    replayApi(replays),
    reconciliationApi(reconciliations),
    explainApi(receiving.explain),
  ]);
}
