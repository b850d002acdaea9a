import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { catalogue, type EventName, mayAccess, WebhookEndpointResource } from "@signalbox/contracts";
import { hours, seconds } from "@signalbox/core";
import type { BatchHandler, ConsumerTable, Handler } from "@signalbox/events";
import { exportRoutes } from "@signalbox/http";
import { createNameLookup, createOutboundClient } from "@signalbox/net";
import { createWakeUp, ownPorts, type ServiceContext, type ServiceParts } from "@signalbox/runtime";
import { openPrincipals, openService } from "@signalbox/service";
import { atStart, createSealer, type Pool, type Sealer, startRetention } from "@signalbox/storage";
import { createDeliveryStore } from "./deliveries/delivery-store.ts";
import type { FanOut } from "./deliveries/fan-out.ts";
import { outgoingEventOf } from "./deliveries/outgoing-event.ts";
import { createRetryDelivery } from "./deliveries/retry-delivery.ts";
import { createDeliveryDays } from "./delivery-days.ts";
import { loadersOf, serviceEdges } from "./edges.ts";
import { viewEndpoint } from "./endpoints/endpoint.ts";
import { createEndpointSecrets } from "./endpoints/endpoint-secrets.ts";
import { createEndpointStatus } from "./endpoints/endpoint-status.ts";
import { createEndpointStore } from "./endpoints/endpoint-store.ts";
import { createEndpoints, type Endpoints } from "./endpoints/endpoints.ts";
import { createRemovals } from "./endpoints/removals.ts";
import { createSecretStore, openingWith, sealedColumns } from "./endpoints/secret-store.ts";
import { createEnforcedTypes } from "./event-types/enforced-types.ts";
import { createEventChecks } from "./event-types/event-checks.ts";
import { createEventTypeStore } from "./event-types/event-type-store.ts";
import { createEventTypes } from "./event-types/event-types.ts";
import { SchemaThreads } from "./event-types/schema-threads.ts";
import { createEventStore, publishedRetention } from "./events/event-store.ts";
import { createEvents } from "./events/events.ts";
import { createPublicationCounts } from "./events/publication-counts.ts";
import { createOperators, openAdministrators } from "./operators/operators.ts";
import type { Properties } from "./properties.ts";
import { orderRetention } from "./queue/delivery-order.ts";
import { openEngine } from "./queue/open-engine.ts";
import { idleMsMax } from "./queue/queue-worker.ts";
import { createReplays, replayRetention } from "./replays/replays.ts";
import { createSigningKeyStore } from "./signing-keys/signing-key-store.ts";
import { createSigningKeys } from "./signing-keys/signing-keys.ts";
import { startWorkers } from "./workers.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
const schemaFile = new URL("../schema.graphql", import.meta.url);

/** Builds the service that delivers events to the endpoints of accounts: signed, at least once, with retries. */
export async function createService(context: ServiceContext<Properties>): Promise<ServiceParts> {
  const { configuration, runner, clock } = context;
  const sealer = createSealer(configuration.get("secrets.keys"));
  const opened = await openService(context, { prismaDirectory, sealer, sealedColumns });
  const { pool, outbox, accessStates, pageLimits, consume, serve } = opened;
  const wakeUp = createWakeUp(idleMsMax);
  const mayWrite = (accountId: string) => mayAccess(accessStates.stateOf(accountId)?.state ?? "active", "write");
  const stores = createStores(pool, sealer, mayWrite);
  const { endpointStore, eventStore } = stores;
  const shared = {
    ...{ pool, ...stores, outbox, clock, mayWrite, wakeUp },
    removals: createRemovals(pool),
    outbound: openOutbound(context),
    wake: wakeUp.wake,
  };

  const owned = createEndpointCapabilities(context, shared);
  const engine = openEngine(context, opened, { ...shared, endpointStatus: owned.endpointStatus });
  const { table, batchHandler } = fanOutTable(engine.fanOut, owned.endpoints);
  consume("fan-out", table, batchHandler);
  const retentionMs = () => configuration.get("webhook-delivery.retention");
  const deliveryDays = createDeliveryDays({ ...shared, retentionMs });
  // Before the first event: a row that finds no table for its day has to be moved later.
  const waitMs = configuration.get("database.start-wait");
  await atStart(() => deliveryDays.keep(), { waitMs, log: context.log });
  startRetention({ runner, pool, clock }, [
    publishedRetention(retentionMs),
    replayRetention(retentionMs),
    orderRetention(() => retentionMs() + hours(48)),
  ]);
  const deliveriesMax = () => configuration.get("webhook-delivery.replays.deliveries-max");
  const replays = createReplays({ ...shared, deliveriesMax });
  const administratorsAmong = openAdministrators(context);
  const operators = createOperators({ ...shared, ...owned, administratorsAmong });
  const publicationCounts = createPublicationCounts(shared);
  const jobs = { replays, deliveryDays, operators, publicationCounts, accessStates };
  startWorkers(runner, { ...context, ...shared, ...engine, ...jobs });

  const schemaThreads = new SchemaThreads(() => clock.steadyMs());
  runner.defer("schema threads", () => schemaThreads.close());
  const enforcedTypes = createEnforcedTypes(shared);
  const eventTypes = createEventTypes({ ...shared, enforcedTypes, schemaThreads });
  const eventChecks = createEventChecks({ enforcedTypes, schemaThreads });
  const events = createEvents({ ...context, ...engine, eventStore, eventChecks, publicationCounts });
  const parts = {
    ...{ ...shared, ...engine, ...owned, events, eventTypes, replays, pageLimits },
    retryDelivery: createRetryDelivery({ ...shared, ...engine }),
  };
  return serve({
    title: "Signalbox webhooks",
    principals: openPrincipals(context),
    edges: serviceEdges(parts),
    internalRoutes: exportRoutes({ item: WebhookEndpointResource, list: endpointStore.list, view: viewEndpoint }),
    graph: { typeDefs: await readFile(schemaFile, "utf8"), createLoaders: loadersOf(parts) },
  });
}

function createStores(pool: Pool, sealer: Sealer, mayWrite: (accountId: string) => boolean) {
  return {
    endpointStore: createEndpointStore(pool, openingWith(sealer)),
    secretStore: createSecretStore(sealer),
    signingKeyStore: createSigningKeyStore(pool, sealer),
    deliveryStore: createDeliveryStore({ pool, mayWrite }),
    eventStore: createEventStore(pool),
    eventTypeStore: createEventTypeStore(pool),
  };
}

type EndpointParts = Omit<Parameters<typeof createEndpoints>[0], "endpointsMax" | "mayRegister" | "signingKeys"> &
  Omit<Parameters<typeof createSigningKeys>[0], "rotationOverlapMs"> &
  Omit<Parameters<typeof createEndpointSecrets>[0], "rotationOverlapMs"> &
  Parameters<typeof createEndpointStatus>[0];

/** Creates the operations of owners on their endpoints. */
function createEndpointCapabilities({ configuration }: ServiceContext<Properties>, shared: EndpointParts) {
  const rotationOverlapMs = () => configuration.get("webhook-delivery.secret.rotation-overlap");
  const signingKeys = createSigningKeys({ ...shared, rotationOverlapMs });
  return {
    signingKeys,
    endpoints: createEndpoints({
      ...shared,
      signingKeys,
      endpointsMax: () => configuration.get("webhook-delivery.endpoints.max"),
      mayRegister: () => configuration.get("capabilities.webhooks"),
    }),
    endpointSecrets: createEndpointSecrets({ ...shared, rotationOverlapMs }),
    endpointStatus: createEndpointStatus(shared),
  };
}

/** Builds the consumer that creates deliveries for the subscribers of each event. */
function fanOutTable(fanOut: FanOut, endpoints: Endpoints): { table: ConsumerTable; batchHandler: BatchHandler } {
  const batchHandler: BatchHandler = async (events, { tx }) => {
    await fanOut.deliver(
      tx,
      events.map(outgoingEventOf).filter((event) => event !== null),
    );
    for (const { name, subject } of events) if (name === "account.deleted") await endpoints.deleteAllOf(tx, subject);
  };
  const single: Handler<EventName> = (event, context) => batchHandler([event], context);
  const names = catalogue.filter(({ audience }) => audience === "account").map(({ name }) => name);
  return { table: Object.fromEntries([...names, "account.deleted"].map((name) => [name, single])), batchHandler };
}

function openOutbound({ configuration, clock, metrics, runner }: ServiceContext<Properties>) {
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
