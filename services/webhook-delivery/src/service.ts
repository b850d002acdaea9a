import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Principal } from "@signalbox/auth";
import { mayAccess, WebhookEndpointResource } from "@signalbox/contracts";
import { hours, seconds } from "@signalbox/core";
import { publishEvents as publishReports } from "@signalbox/events";
import { exportRoutes } from "@signalbox/http";
import { createNameLookup, createOutboundClient, type OutboundClient } from "@signalbox/net";
import { createWakeUp, ownPorts, type ServiceContext, type ServiceParts } from "@signalbox/runtime";
import { type OpenedService, openPrincipals, openService } from "@signalbox/service";
import { atStart, createSealer, keepStatistics, type Pool, type Sealer, startRetention } from "@signalbox/storage";
import { openCanary } from "./canary/canary.ts";
import { createFanOutConsumer } from "./consumers.ts";
import { createChainDeliveries } from "./deliveries/chain-deliveries.ts";
import { createChainEvents } from "./deliveries/chain-events.ts";
import { createDeliveries } from "./deliveries/deliveries.ts";
import { orderRetention } from "./deliveries/delivery-order.ts";
import { createDeliveryStore } from "./deliveries/delivery-store.ts";
import { whyDelivered } from "./deliveries/why-delivered.ts";
import { createDeliveryDays } from "./delivery-days.ts";
import { serviceEdges } from "./edges.ts";
import { viewEndpoint } from "./endpoints/endpoint.ts";
import { createEndpointSecrets } from "./endpoints/endpoint-secrets.ts";
import { createEndpointStatus } from "./endpoints/endpoint-status.ts";
import { createEndpointStore } from "./endpoints/endpoint-store.ts";
import { createEndpointViews } from "./endpoints/endpoint-view.ts";
import { createEndpoints, type Endpoints } from "./endpoints/endpoints.ts";
import { knownEndpointRoutes } from "./endpoints/known-endpoints.ts";
import { createRemovals } from "./endpoints/removals.ts";
import { createSecretStore, openingWith, sealedColumns } from "./endpoints/secret-store.ts";
import { createEnforcedTypes, createEventChecks } from "./event-types/event-checks.ts";
import { createEventTypeStore } from "./event-types/event-type-store.ts";
import { createEventTypes } from "./event-types/event-types.ts";
import { SchemaThreads } from "./event-types/schema-threads.ts";
import { createTypeNames, notingNames } from "./event-types/type-names.ts";
import { announcing, createAnnouncements } from "./events/announcements.ts";
import { createEventStore, publishedRetention } from "./events/event-store.ts";
import { createPublicationCounts } from "./events/publication-counts.ts";
import { openEngine } from "./open-engine.ts";
import { createOperators, openAdministrators } from "./operators/operators.ts";
import type { Properties } from "./properties.ts";
import type { FanOut } from "./publishing/fan-out.ts";
import { createPublishEvents, publishedEvents } from "./publishing/publish-events.ts";
import { createConsumerStore } from "./pull/consumer-store.ts";
import { createConsumers } from "./pull/consumers.ts";
import { createEndLeases } from "./pull/end-leases.ts";
import { createListening } from "./pull/listening.ts";
import { createMessageStreams } from "./pull/message-stream.ts";
import { createReplays, replayRetention } from "./replays/replays.ts";
import { whyReplayed } from "./replays/why-replayed.ts";
import { idleMsMax } from "./sending/claim-loop.ts";
import { createSigningKeyStore } from "./signing-keys/signing-key-store.ts";
import { createSigningKeys } from "./signing-keys/signing-keys.ts";
import { observeQueue, startWorkers } from "./workers.ts";

type Context = ServiceContext<Properties>;

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
const schemaFile = new URL("../schema.graphql", import.meta.url);

/** Builds the service that delivers events to the endpoints of accounts: signed, at least once, with retries. */
export async function createService(context: Context): Promise<ServiceParts> {
  const { configuration, runner, clock } = context;
  const sealer = createSealer(configuration.get("secrets.keys"));
  const rateLimits = () => [publishLimit(context)];
  const opened = await openService(context, { prismaDirectory, rateLimits, sealer, sealedColumns });
  const { pool, eventLog, outbox, accessStates, pageLimits, consume, serve } = opened;
  const wakeUp = createWakeUp(idleMsMax);
  const { wake } = wakeUp;
  const mayWrite = (accountId: string) => mayAccess(accessStates.stateOf(accountId)?.state ?? "active", "write");
  const stores = createStores(pool, sealer, mayWrite);
  const { endpointStore, typeNames } = stores;
  const outbound = openOutbound(context);

  const owned = createEndpointOperations(context, opened, { stores, outbound, wake });
  const { endpointStatus } = owned;
  const canary = await openCanary(context, pool, stores);
  const engine = openEngine(context, opened, { endpointStore, endpointStatus, outbound, canary, mayWrite, wakeUp });
  const { deliveryQueue, testEndpoint, attemptStatistics, timeoutMs } = engine;
  const announcements = createAnnouncements((drafts) => publishReports({ ...context, eventLog }, drafts));
  const fanOut = announcing(notingNames(engine.fanOut, typeNames), announcements);
  const removals = createRemovals({ pool, endpointStore, attemptStatistics, outbox, clock });
  const { table, batchHandler } = createFanOutConsumer({ fanOut, removals });
  consume("fan-out", table, batchHandler);

  const deliveries = createDeliveries({ endpointStore, deliveryQueue, outbox, clock, wake });
  const deliveriesMax = () => configuration.get("webhook-delivery.replays.deliveries-max");
  const replays = createReplays({ pool, endpointStore, outbox, clock, deliveriesMax, wake });
  const administratorsAmong = openAdministrators(context);
  const operators = createOperators({ pool, endpointStore, endpointStatus, administratorsAmong });
  const { publishEvents, eventTypes, publicationCounts } = createPublishing(context, opened, { stores, fanOut });
  const pull = createPull(context, opened, { stores, endpoints: owned.endpoints, engine: engine.pull });
  const events = { publicationCounts, announcements };
  const upkeep = { deliveryDays: await keepDays(context, pool), removals };
  startWorkers(runner, { engine, pull, upkeep, replays, operators, events, accessStates, wake });
  keepStatistics({ runner, pool, clock }, attemptStatistics);
  observeQueue(context.metrics, pool);

  const retentionMs = () => configuration.get("webhook-delivery.retention");
  const chainEvents = createChainEvents({ pool, clock, retentionMs });
  const chainDeliveries = createChainDeliveries({ pool, nowMs: () => clock.nowMs() });
  const baseUrl = configuration.get("http.base-url");
  const inFlightMax = configuration.get("webhook-delivery.attempts.in-flight-max-per-endpoint");
  const endpointViews = createEndpointViews({ typeNames, timeoutMs, inFlightMax, baseUrl });
  const operations = { ...owned, endpointViews, testEndpoint, deliveries, publishEvents, eventTypes, replays, pull };
  return serve({
    title: "Signalbox webhooks",
    sendsWebhooks: true,
    principals: openPrincipals(context),
    edges: serviceEdges({ operations, stores, attemptStatistics, pageLimits, baseUrl, clock }),
    internalRoutes: [exportOf(endpointStore), knownEndpointRoutes(endpointStore)],
    whyFinders: [
      ...whyDelivered({ deliveryStore: stores.deliveryStore, chainEvents, chainDeliveries }),
      ...whyReplayed({ replays, chainDeliveries, retentionMs }),
    ],
    typeDefs: await readFile(schemaFile, "utf8"),
  });
}

/** The endpoints in the export of their account. */
const exportOf = ({ list }: Stores["endpointStore"]) =>
  exportRoutes({
    item: WebhookEndpointResource,
    list: (accountId, range) => list({ accountId }, range),
    view: viewEndpoint,
  });

type Stores = ReturnType<typeof createStores>;

function createStores(pool: Pool, sealer: Sealer, mayWrite: (accountId: string) => boolean) {
  return {
    endpointStore: createEndpointStore(pool, openingWith(sealer)),
    secretStore: createSecretStore(sealer),
    signingKeyStore: createSigningKeyStore(pool, sealer),
    deliveryStore: createDeliveryStore({ pool, mayWrite }),
    eventStore: createEventStore(pool),
    eventTypeStore: createEventTypeStore(pool),
    typeNames: createTypeNames(pool),
  };
}

interface EndpointParts {
  readonly stores: Stores;
  readonly outbound: OutboundClient;
  readonly wake: () => void;
}

/** Creates the operations of owners on their endpoints. */
function createEndpointOperations(
  { configuration, clock }: Context,
  { outbox }: OpenedService,
  { stores, outbound, wake }: EndpointParts,
) {
  const { endpointStore, secretStore, signingKeyStore } = stores;
  const rotationOverlapMs = () => configuration.get("webhook-delivery.secret.rotation-overlap");
  const signingKeys = createSigningKeys({ signingKeyStore, endpointStore, outbox, clock, rotationOverlapMs });
  return {
    signingKeys,
    endpoints: createEndpoints({
      endpointStore,
      secretStore,
      signingKeys,
      outbox,
      clock,
      outbound,
      endpointsMax: () => configuration.get("webhook-delivery.endpoints.max"),
      mayRegister: () => configuration.get("capabilities.webhooks"),
    }),
    endpointSecrets: createEndpointSecrets({ endpointStore, secretStore, outbox, clock, rotationOverlapMs }),
    endpointStatus: createEndpointStatus({ endpointStore, outbox, clock, wake }),
  };
}

/** Keeps the day tables and trims the others, up to the retention. */
async function keepDays({ configuration, runner, clock, log }: Context, pool: Pool) {
  const retentionMs = () => configuration.get("webhook-delivery.retention");
  const deliveryDays = createDeliveryDays({ pool, clock, retentionMs });
  // Before the first event: a row that finds no table for its day has to be moved later.
  await atStart(() => deliveryDays.keep(), { waitMs: configuration.get("database.start-wait"), log });
  startRetention({ runner, pool, clock }, [
    publishedRetention(retentionMs),
    replayRetention(retentionMs),
    orderRetention(() => retentionMs() + hours(48)),
  ]);
  return deliveryDays;
}

/** Limits the events of an account, whose lists count by their length. */
const publishLimit = ({ configuration }: Context) => ({
  name: publishedEvents,
  limit: configuration.get("webhook-delivery.published-events.max"),
  windowMs: seconds(10),
  per: "account" as const,
});

/** Creates the operations on the events that accounts publish, and on their types. */
function createPublishing(
  context: Context,
  { pool, outbox, limiterOf }: OpenedService,
  { stores: { eventStore, eventTypeStore }, fanOut }: { readonly stores: Stores; readonly fanOut: FanOut },
) {
  const { runner, clock, tracer } = context;
  const schemaThreads = new SchemaThreads(() => clock.steadyMs());
  runner.defer("schema threads", () => schemaThreads.close());
  const enforcedTypes = createEnforcedTypes({ pool, eventTypeStore, outbox, clock });
  const eventChecks = createEventChecks({ enforcedTypes, schemaThreads });
  const publicationCounts = createPublicationCounts({ pool, outbox, clock });
  return {
    publicationCounts,
    publishEvents: createPublishEvents({
      pool,
      eventStore,
      eventChecks,
      fanOut,
      publicationCounts,
      limiter: limiterOf(publishLimit(context)),
      clock,
      tracer,
    }),
    eventTypes: createEventTypes({ eventTypeStore, enforcedTypes, schemaThreads, outbox, clock }),
  };
}

interface PullParts {
  readonly stores: Stores;
  readonly endpoints: Endpoints;
  readonly engine: ReturnType<typeof openEngine>["pull"];
}

/** Creates the operations of the consumers of pull endpoints. */
function createPull(
  { configuration, clock, log }: Context,
  { pool, outbox, accessStates }: OpenedService,
  { stores: { endpointStore, eventStore, deliveryStore }, endpoints, engine }: PullParts,
) {
  const { pullMessages, pullWaits, openLeases } = engine;
  const isOutdated = ({ accountId, epoch, credential: { id, tokenId } }: Principal) =>
    (accessStates.stateOf(accountId)?.epoch ?? 0) > epoch ||
    [id, tokenId].some((one) => one !== undefined && accessStates.isRevoked(one));
  return {
    ...engine,
    listening: createListening({ pool, endpoints, endpointStore, outbox, clock }),
    messageStreams: createMessageStreams({ pullMessages, pullWaits, openLeases, clock, log, isOutdated }),
    endLeases: createEndLeases({ pullMessages, deliveryStore, clock }),
    consumers: createConsumers({
      pool,
      consumerStore: createConsumerStore(pool),
      endpointStore,
      eventStore,
      outbox,
      clock,
      pullWaits,
      consumersMax: () => configuration.get("webhook-delivery.pull.consumers-max"),
    }),
  };
}

/** Opens the client of all attempts. */
function openOutbound({ configuration, clock, metrics, runner }: Context) {
  const duration = metrics.histogram("signalbox_outbound_seconds");
  const outbound = createOutboundClient({
    allow: configuration.get("webhook-delivery.outbound.allow"),
    refusePorts: ownPorts,
    proxy: configuration.get("webhook-delivery.outbound.proxy"),
    http2: configuration.get("webhook-delivery.outbound.http2"),
    // As many connections as attempts: waiting for a connection would use up an attempt's deadline.
    connectionsPerOriginMax: configuration.get("webhook-delivery.attempts.in-flight-max-per-host"),
    idleTimeoutMs: seconds(60),
    lookup: createNameLookup({ clock }),
    clock,
    onEnd: (outcome, durationMs) => duration.observe({ outcome }, durationMs / 1000),
  });
  runner.defer("outbound client", () => outbound.close());
  return outbound;
}
