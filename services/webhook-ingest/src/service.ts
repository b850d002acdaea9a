import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { AccessStates } from "@signalbox/auth";
import { mayAccess, WebhookSourceResource } from "@signalbox/contracts";
import { AppError, hours } from "@signalbox/core";
import { exportRoutes } from "@signalbox/http";
import type { ServiceContext, ServiceParts } from "@signalbox/runtime";
import { openPrincipals, openService } from "@signalbox/service";
import { createSealer, startRetention } from "@signalbox/storage";
import type { Properties } from "./properties.ts";
import { createReceiveDelivery } from "./receiving/receive-delivery.ts";
import { createReceivingStore } from "./receiving/receiving-store.ts";
import { createRecordRejection } from "./receiving/record-rejection.ts";
import { createServiceRoutes } from "./routes.ts";
import { viewSource } from "./sources/source.ts";
import { resolversOf, sourceLoaders } from "./sources/source-resolvers.ts";
import { createSourceStore, sealedSecrets } from "./sources/source-store.ts";
import { createSources } from "./sources/sources.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
const schemaFile = new URL("../schema.graphql", import.meta.url);

/** Receives webhooks from partners: verifies them, stores them once and publishes them. */
export async function createService(context: ServiceContext<Properties>): Promise<ServiceParts> {
  const { configuration, runner, clock, log, metrics } = context;
  const sealer = createSealer(configuration.get("secrets.keys"));
  const opened = await openService(context, { prismaDirectory, sealer, sealedColumns: sealedSecrets });
  const { pool, outbox, accessStates, pageLimits, consume, serve } = opened;
  const sourceStore = createSourceStore(pool, sealer);
  const receivingStore = createReceivingStore(pool);
  const sourcesMax = () => configuration.get("webhook-ingest.sources.max");
  const areOpen = () => configuration.get("features.integrations") !== "disabled";
  const sources = createSources({ sourceStore, outbox, clock, sourcesMax, areOpen });
  const receiveDelivery = createReceiveDelivery({
    pool,
    sourceStore,
    receivingStore,
    outbox,
    clock,
    toleranceMs: () => configuration.get("webhook-ingest.tolerance"),
    eventBytesMax: configuration.get("events.message.max-bytes"),
    mayWrite: createMayWrite(accessStates),
    areOpen,
  });
  const dropped = metrics.counter(
    "signalbox_webhook_rejections_dropped",
    "Rejections that were counted but not written.",
  );
  const recordRejection = createRecordRejection({
    receivingStore,
    clock,
    log,
    keptMax: () => configuration.get("webhook-ingest.rejections.max"),
    onDropped: () => dropped.inc(),
  });

  consume("accounts", { "account.deleted": ({ subject }, { tx }) => sources.deleteAllOf(tx, subject) });
  startRetention({ runner, pool, clock }, [
    // Seldom: what the BRIN of the column has not summed up yet is read each time.
    {
      name: "trim received",
      table: "received_deliveries",
      column: "received_at",
      unordered: true,
      keepMs: () => configuration.get("webhook-ingest.received.retention"),
      batch: 5_000,
      everyMs: hours(1),
    },
  ]);

  const webhookBytesMax = () => configuration.get("limits.maxWebhookBytes");
  const ingest = { receiveDelivery, recordRejection, webhookBytesMax };
  return serve({
    title: "Signalbox webhook ingest",
    principals: openPrincipals(context),
    routes: createServiceRoutes({ sources, sourceStore, receivingStore, pageLimits, ...ingest }),
    internalRoutes: exportRoutes({ item: WebhookSourceResource, list: sourceStore.list, view: viewSource }),
    graph: {
      typeDefs: await readFile(schemaFile, "utf8"),
      resolvers: resolversOf({ sourceStore, pageLimits }),
      createLoaders: sourceLoaders(sourceStore),
    },
  });
}

/** Nobody authenticates at ingest, so it is here that nothing passes before the access states are known. */
function createMayWrite(accessStates: AccessStates) {
  return (accountId: string): boolean => {
    if (!accessStates.isCaughtUp())
      throw new AppError("unavailable", "Access is being read.", { retryAfterSeconds: 1 });
    return mayAccess(accessStates.stateOf(accountId)?.state ?? "active", "write");
  };
}
