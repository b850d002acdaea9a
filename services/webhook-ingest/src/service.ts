import { fileURLToPath } from "node:url";
import type { AccessStates } from "@signalbox/auth";
import type { AccountState } from "@signalbox/contracts";
import { AppError } from "@signalbox/core";
import { createConsumer } from "@signalbox/events";
import { createHttpApp, createIdempotencyStore, createInternalApp } from "@signalbox/http";
import type { ServiceContext, ServiceParts } from "@signalbox/runtime";
import {
  followConfiguration,
  openAccess,
  openDatabase,
  openEdgeLimits,
  openOutbox,
  openServiceLog,
} from "@signalbox/service";
import { createSealer } from "@signalbox/storage";
import { createConsumerTable } from "./consumers.ts";
import { exportedSources } from "./export/exported-sources.ts";
import { createIngestSubgraph } from "./graphql/subgraph.ts";
import type { Properties } from "./properties.ts";
import { createDeliveryStore } from "./receiving/delivery-store.ts";
import { createReceiveDelivery } from "./receiving/receive-delivery.ts";
import { createRecordRejection } from "./receiving/record-rejection.ts";
import { createServiceRoutes } from "./routes.ts";
import { createChangeSource } from "./sources/change-source.ts";
import { createCreateSource } from "./sources/create-source.ts";
import { createDeleteSource, createDeleteSourcesOfAccount } from "./sources/delete-source.ts";
import { createSourceStore } from "./sources/source-store.ts";
import { startWorkers } from "./workers.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));

/** What the routes, resolvers and consumers may call. */
export type Verbs = Awaited<ReturnType<typeof openVerbs>>["verbs"];

/** Takes partners' webhooks: verifies them, stores them once and publishes them. */
export async function createService(context: ServiceContext<Properties>): Promise<ServiceParts> {
  const { configuration, runner, log, tracer, metrics, clock } = context;
  const { verbs, pool, eventLog, deadLetters, access, deliveries } = await openVerbs(context);
  await followConfiguration(context, eventLog);
  const { rateLimits } = await openEdgeLimits(context);

  const consumer = { service: "webhook-ingest", name: "accounts", eventLog, pool, deadLetters } as const;
  createConsumer({
    ...consumer,
    table: createConsumerTable(verbs),
    inboxRetentionMs: configuration.get("events.inbox.retention"),
    ...{ log, tracer, metrics, clock },
  }).start(context);
  const idempotency = createIdempotencyStore({ service: context.service, pool, clock });
  runner.worker("idempotency", idempotency.clean);
  startWorkers(runner, {
    deliveries,
    clock,
    retentionMs: () => configuration.get("webhook-ingest.received.retention"),
  });

  const published = {
    routes: createServiceRoutes(verbs),
    openapi: { title: "Signalbox webhook ingest", version: "1" },
  };
  return {
    public: createHttpApp({
      context,
      routes: published.routes,
      authenticator: access.authenticator,
      rateLimits,
      idempotency,
      openapi: published.openapi,
    }),
    internal: createInternalApp({
      context,
      tokens: () => configuration.get("internal.token"),
      routes: exportedSources(verbs),
      mounts: { "/graphql": await createIngestSubgraph(verbs, log) },
      published,
    }),
    authorizeManagement: access.authorizeManagement,
  };
}

async function openVerbs(context: ServiceContext<Properties>) {
  const { configuration, clock, log, metrics } = context;
  const pool = await openDatabase(context, prismaDirectory);
  const eventLog = await openServiceLog(context);
  const { outbox, deadLetters } = openOutbox(context, pool, eventLog);
  const access = await openAccess(context, eventLog);

  const sources = createSourceStore(pool, createSealer(configuration.get("secrets.keys")));
  const deliveries = createDeliveryStore(pool);
  const dropped = metrics.counter(
    "signalbox_webhook_rejections_dropped",
    "Rejections that were counted but not written.",
  );
  const verbs = {
    sources,
    deliveries,
    createSource: createCreateSource({ pool, sources, outbox, clock }),
    changeSource: createChangeSource({ pool, sources, outbox, clock }),
    deleteSource: createDeleteSource({ pool, sources, outbox }),
    deleteSourcesOfAccount: createDeleteSourcesOfAccount({ sources, outbox }),
    receiveDelivery: createReceiveDelivery({
      pool,
      sources,
      deliveries,
      outbox,
      clock,
      toleranceMs: () => configuration.get("webhook-ingest.tolerance"),
      eventBytesMax: configuration.get("events.message.max-bytes"),
      stateOf: createStateOf(access.accessStates),
    }),
    recordRejection: createRecordRejection({
      deliveries,
      clock,
      log,
      keptMax: () => configuration.get("webhook-ingest.rejections.max"),
      onDropped: () => dropped.inc(),
    }),
    limits: {
      maxPageSize: () => configuration.get("limits.maxPageSize"),
      pageSize: () => configuration.get("defaults.pageSize"),
      webhookBytesMax: () => configuration.get("limits.maxWebhookBytes"),
    },
  };
  return { verbs, pool, eventLog, deadLetters, access, deliveries };
}

/** Nobody authenticates at ingest, so it is here that nothing passes before the access states are known. */
function createStateOf(accessStates: AccessStates) {
  return (accountId: string): AccountState => {
    if (!accessStates.isCaughtUp())
      throw new AppError("unavailable", "Access is being read.", { retryAfterSeconds: 1 });
    return accessStates.stateOf(accountId)?.state ?? "active";
  };
}
