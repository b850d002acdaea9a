import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { WebhookSourceResource } from "@signalbox/contracts";
import { exportRoutes } from "@signalbox/http";
import { createNameLookup, createOutboundClient, type OutboundClient } from "@signalbox/net";
import { ownPorts, type ServiceContext, type ServiceParts } from "@signalbox/runtime";
import { type OpenedService, openPrincipals, openService } from "@signalbox/service";
import { createSealer } from "@signalbox/storage";
import { createBookmarkStore } from "./bookmarks/bookmark-store.ts";
import { createBookmarks } from "./bookmarks/bookmarks.ts";
import { serviceEdges } from "./edges.ts";
import type { Properties } from "./properties.ts";
import { createDeliveryStore } from "./receiving/delivery-store.ts";
import { createDeliveryWriter } from "./receiving/delivery-writer.ts";
import { createReceivedStore } from "./receiving/received-store.ts";
import { openJudge, openReceiving } from "./receiving/receiving.ts";
import { whyReceived } from "./receiving/why-received.ts";
import { openReconciling } from "./reconciling/reconciling.ts";
import { createRejectionStore, sealedProofs } from "./rejections/rejection-store.ts";
import { createRetryRejection } from "./rejections/retry-rejection.ts";
import { createPublishStep } from "./replays/publish-step.ts";
import { createReplays } from "./replays/replays.ts";
import { whyReplayed } from "./replays/why-replayed.ts";
import { createAssertUsable } from "./sources/assert-usable.ts";
import { createCertificates } from "./sources/certificates.ts";
import { createKeySets } from "./sources/key-sets.ts";
import { viewSource } from "./sources/source.ts";
import { createSourceCache, type SourceCache } from "./sources/source-cache.ts";
import { createSourceRotations } from "./sources/source-rotations.ts";
import { createSourceStore, type SourceStore, sealedSecrets } from "./sources/source-store.ts";
import { createSourceViews } from "./sources/source-view.ts";
import { createSources } from "./sources/sources.ts";
import { createSourceStatistics } from "./statistics/source-statistics.ts";
import { startWorkers } from "./workers.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
const sealedColumns = [...sealedSecrets, sealedProofs];
const schemaFile = new URL("../schema.graphql", import.meta.url);

/** Builds the service that receives webhooks from partners: verifies them, stores them once and publishes them. */
export async function createService(context: ServiceContext<Properties>): Promise<ServiceParts> {
  const { configuration, clock } = context;
  const sealer = createSealer(configuration.get("secrets.keys"));
  const opened = await openService(context, { prismaDirectory, sealer, sealedColumns });
  const { pool, outbox, pageLimits, consume, serve } = opened;
  const keepMs = () => configuration.get("webhook-ingest.received.retention");
  const areIntegrationsEnabled = () => configuration.get("features.integrations") !== "disabled";
  const outbound = openOutbound(context);

  const sourceStore = createSourceStore(pool, sealer, clock);
  const knownSources = createSourceCache(sourceStore, clock);
  const known = { sourceStore, knownSources, outbound };
  const { sources, sourceRotations } = createSourceOperations(context, opened, known, areIntegrationsEnabled);
  const reconciling = openReconciling(context, opened, { sealer, sourceStore, knownSources, outbound, keepMs });
  consume("accounts", { "account.deleted": ({ subject }, { tx }) => sources.deleteAllOf(tx, subject) });

  const judge = openJudge(context, opened, openPublishedKeys(context, outbound));
  const receivedStore = createReceivedStore({ pool, clock, keepMs });
  const rejectionStore = createRejectionStore(pool, sealer);
  const sourceViews = createSourceViews(judge, configuration.get("http.base-url"));
  const { outages, reconciliations, senderKeys, originOf } = reconciling;
  const stored = { judge, knownSources, rejectionStore, sourceViews, originOf, areIntegrationsEnabled };
  const { receiving, retryRejection, sourceStatistics, deliveryWriter } = createReceiving(context, opened, stored);

  const replays = createReplays({ pool, receivedStore, outbox, clock, keepMs });
  const publishStep = createPublishStep({ receivedStore, sourceStore, outbox, judge });
  const reconcileStep = reconciling.createStep({ judge, deliveryWriter });
  await startWorkers(context, { pool, replays, publishStep, sourceStatistics, outages, reconcileStep, keepMs });

  const why = { receivedStore, rejectionStore, sourceStore, replays, pool, keepMs, clock };
  return serve({
    title: "Signalbox webhook ingest",
    principals: openPrincipals(context),
    edges: serviceEdges({
      receiving: {
        routes: receiving,
        received: { sourceStore, receivedStore, pageLimits },
        bookmarks: { sourceStore, receivedStore, bookmarks: openBookmarks(context, opened), pageLimits },
        explain: { sourceStore, knownSources, judge },
      },
      sources: { sources, sourceRotations, senderKeys, sourceStore, sourceViews, pageLimits },
      presets: { pageLimits },
      rejections: { sourceStore, sourceViews, rejectionStore, retryRejection, pageLimits },
      replays: { sourceStore, replays, pageLimits },
      reconciliations: { sourceStore, reconciliations, outages, pageLimits },
      statistics: { sourceStatistics, sourceStore, clock },
    }),
    internalRoutes: [exportRoutes({ item: WebhookSourceResource, list: sourceStore.list, view: viewSource })],
    whyFinders: [...whyReceived(why), ...whyReplayed(why)],
    typeDefs: await readFile(schemaFile, "utf8"),
  });
}

/** Creates the operations on bookmarks of received webhooks. */
function openBookmarks({ configuration, clock }: ServiceContext<Properties>, { pool, outbox }: OpenedService) {
  const bookmarksMax = () => configuration.get("webhook-ingest.bookmarks.max");
  return createBookmarks({ bookmarkStore: createBookmarkStore(pool), outbox, clock, bookmarksMax });
}

type ReceivingParts = Omit<Parameters<typeof openReceiving>[2], "deliveryWriter" | "sourceStatistics">;

/** Creates the receiving of webhooks, and what is counted of it. */
function createReceiving(context: ServiceContext<Properties>, opened: OpenedService, parts: ReceivingParts) {
  const { clock } = context;
  const { pool, outbox } = opened;
  const sourceStatistics = createSourceStatistics({ pool, clock });
  const { countDuplicate } = sourceStatistics;
  const deliveryStore = createDeliveryStore(pool);
  const deliveryWriter = createDeliveryWriter({ deliveryStore, outbox, clock, countDuplicate });
  const { judge, knownSources, rejectionStore } = parts;
  return {
    sourceStatistics,
    deliveryWriter,
    retryRejection: createRetryRejection({ judge, knownSources, deliveryWriter, rejectionStore, outbox }),
    receiving: openReceiving(context, opened, { ...parts, deliveryWriter, sourceStatistics }),
  };
}

interface SourceParts {
  readonly sourceStore: SourceStore;
  readonly knownSources: SourceCache;
  readonly outbound: OutboundClient;
}

/** Creates the operations of owners on their sources. */
function createSourceOperations(
  { configuration, clock }: ServiceContext<Properties>,
  { outbox }: OpenedService,
  { sourceStore, knownSources, outbound }: SourceParts,
  areIntegrationsEnabled: () => boolean,
) {
  const assertUsable = createAssertUsable(outbound);
  return {
    sources: createSources({
      sourceStore,
      knownSources,
      outbox,
      clock,
      assertUsable,
      sourcesMax: () => configuration.get("webhook-ingest.sources.max"),
      areIntegrationsEnabled,
    }),
    sourceRotations: createSourceRotations({ sourceStore, knownSources, outbox, clock, assertUsable }),
  };
}

/** Creates the readers of what senders publish to prove themselves: key sets and certificates. */
function openPublishedKeys({ clock, log }: ServiceContext<Properties>, outbound: OutboundClient) {
  const keys = { outbound, clock, log };
  return { keySets: createKeySets(keys), certificates: createCertificates(keys) };
}

/** Creates the client that reads partners' key sets, but never from an internal address. */
function openOutbound({ configuration, clock, metrics, runner }: ServiceContext<Properties>) {
  const duration = metrics.histogram("signalbox_outbound_seconds");
  const outbound = createOutboundClient({
    allow: configuration.get("webhook-ingest.outbound.allow"),
    refusePorts: ownPorts,
    lookup: createNameLookup({ clock }),
    clock,
    onEnd: (outcome, durationMs) => duration.observe({ outcome }, durationMs / 1000),
  });
  runner.defer("outbound client", () => outbound.close());
  return outbound;
}
