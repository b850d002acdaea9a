import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { catalogue, type EventName, mayAccess, WebhookEndpointResource } from "@signalbox/contracts";
import type { ConsumerTable, Handler } from "@signalbox/events";
import { exportRoutes } from "@signalbox/http";
import { createOutboundClient } from "@signalbox/net";
import { createWakeUp, ownPorts, type ServiceContext, type ServiceParts } from "@signalbox/runtime";
import { openPrincipals, openService } from "@signalbox/service";
import { createSealer } from "@signalbox/storage";
import { createDeliveries, type Deliveries } from "./deliveries/deliveries.ts";
import { createDeliveryStore } from "./deliveries/delivery-store.ts";
import { DeliveryWorker, idleMsMax } from "./deliveries/delivery-worker.ts";
import { createDueDeliveries } from "./deliveries/due-deliveries.ts";
import { viewEndpoint } from "./endpoints/endpoint.ts";
import { endpointLoaders, resolversOf } from "./endpoints/endpoint-resolvers.ts";
import { createEndpointSecrets } from "./endpoints/endpoint-secrets.ts";
import { createEndpointStatus } from "./endpoints/endpoint-status.ts";
import { createEndpointStore, sealedSecrets } from "./endpoints/endpoint-store.ts";
import { createEndpoints, type Endpoints } from "./endpoints/endpoints.ts";
import type { Properties } from "./properties.ts";
import { createServiceRoutes } from "./routes.ts";
import { startWorkers } from "./workers.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
const schemaFile = new URL("../schema.graphql", import.meta.url);

/** Delivers events to the endpoints that accounts register: signed, at least once, with honest retries. */
export async function createService(context: ServiceContext<Properties>): Promise<ServiceParts> {
  const { configuration, runner, clock, log, tracer, metrics } = context;
  const sealer = createSealer(configuration.get("secrets.keys"));
  const opened = await openService(context, { prismaDirectory, sealer, sealedColumns: sealedSecrets });
  const { pool, outbox, accessStates, pageLimits, consume, serve } = opened;
  const endpointStore = createEndpointStore(pool, sealer);
  const deliveryStore = createDeliveryStore(pool);
  const dueDeliveries = createDueDeliveries(pool);
  const wakeUp = createWakeUp(idleMsMax);
  const mayWrite = (accountId: string) => mayAccess(accessStates.stateOf(accountId)?.state ?? "active", "write");
  const shared = {
    pool,
    endpointStore,
    deliveryStore,
    dueDeliveries,
    outbound: openOutbound(context),
    outbox,
    clock,
    mayWrite,
    wake: wakeUp.wake,
  };

  const owned = createEndpointCapabilities(context, shared);
  const { endpoints, endpointStatus } = owned;
  const deliveries = createDeliveries(shared);
  const deliveryWorker = new DeliveryWorker({
    ...shared,
    ...{ log, tracer, metrics, wakeUp, endpointStatus },
    isReady: () => accessStates.isCaughtUp(),
    timeoutMs: () => configuration.get("webhook-delivery.attempt.timeout"),
    leaseMs: configuration.get("webhook-delivery.attempts.lease"),
    inFlightMax: configuration.get("webhook-delivery.attempts.in-flight-max"),
    inFlightMaxPerEndpoint: configuration.get("webhook-delivery.attempts.in-flight-max-per-endpoint"),
  });

  consume("fan-out", fanOut(deliveries, endpoints));
  const retentionMs = () => configuration.get("webhook-delivery.retention");
  startWorkers(runner, { ...shared, log, metrics, accessStates, deliveryWorker, deliveries, retentionMs });

  return serve({
    title: "Signalbox webhooks",
    principals: openPrincipals(context),
    routes: createServiceRoutes({ ...owned, endpointStore, deliveryStore, pageLimits }),
    internalRoutes: exportRoutes({ item: WebhookEndpointResource, list: endpointStore.list, view: viewEndpoint }),
    graph: {
      typeDefs: await readFile(schemaFile, "utf8"),
      resolvers: resolversOf({ endpointStore, pageLimits }),
      createLoaders: endpointLoaders(endpointStore),
    },
  });
}

type EndpointParts = Omit<Parameters<typeof createEndpoints>[0], "endpointsMax" | "mayRegister"> &
  Parameters<typeof createEndpointStatus>[0];

/** What owners do with endpoints. */
function createEndpointCapabilities({ configuration }: ServiceContext<Properties>, shared: EndpointParts) {
  return {
    endpoints: createEndpoints({
      ...shared,
      endpointsMax: () => configuration.get("webhook-delivery.endpoints.max"),
      mayRegister: () => configuration.get("capabilities.webhooks"),
    }),
    endpointSecrets: createEndpointSecrets({
      ...shared,
      rotationOverlapMs: () => configuration.get("webhook-delivery.secret.rotation-overlap"),
    }),
    endpointStatus: createEndpointStatus(shared),
  };
}

/** A delivery for whoever subscribed to what others did. */
function fanOut(deliveries: Deliveries, endpoints: Endpoints): ConsumerTable {
  const schedule: Handler<EventName> = (event, { tx }) => deliveries.schedule(tx, event);
  const subscribable = catalogue.filter(({ audience }) => audience === "account").map(({ name }) => [name, schedule]);
  return {
    ...Object.fromEntries(subscribable),
    "account.deleted": ({ subject }, { tx }) => endpoints.deleteAllOf(tx, subject),
  };
}

function openOutbound({ configuration, clock, runner }: ServiceContext<Properties>) {
  const outbound = createOutboundClient({
    allow: configuration.get("webhook-delivery.outbound.allow"),
    refusePorts: ownPorts,
    // As many as there are attempts: one that waits for a connection would spend its deadline on it.
    connectionsPerOriginMax: configuration.get("webhook-delivery.attempts.in-flight-max"),
    clock,
  });
  runner.defer("outbound client", () => outbound.close());
  return outbound;
}
