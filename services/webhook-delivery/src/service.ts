import { fileURLToPath } from "node:url";
import { createConsumer } from "@signalbox/events";
import { createHttpApp, createIdempotencyStore, createInternalApp } from "@signalbox/http";
import { createOutboundClient } from "@signalbox/net";
import { ownPorts, type ServiceContext, type ServiceParts } from "@signalbox/runtime";
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
import { createAttemptDelivery } from "./deliveries/attempt-delivery.ts";
import { createDeliverDue } from "./deliveries/deliver-due.ts";
import { createDeliveryStore } from "./deliveries/delivery-store.ts";
import { createDueDeliveries } from "./deliveries/due-deliveries.ts";
import { createScheduleDeliveries } from "./deliveries/schedule-deliveries.ts";
import { createSettleAttempt } from "./deliveries/settle-attempt.ts";
import { createAssertTarget } from "./endpoints/assert-target.ts";
import { createChangeEndpoint } from "./endpoints/change-endpoint.ts";
import { createCreateEndpoint } from "./endpoints/create-endpoint.ts";
import { createEndpointStore } from "./endpoints/endpoint-store.ts";
import { exportedEndpoints } from "./export/exported-endpoints.ts";
import { createDeliverySubgraph } from "./graphql/subgraph.ts";
import type { Properties } from "./properties.ts";
import { createServiceRoutes } from "./routes.ts";
import { startWorkers } from "./workers.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));

/** What the routes, resolvers and consumers may call. */
export type Verbs = Awaited<ReturnType<typeof openVerbs>>["verbs"];

/** Delivers events to the endpoints that accounts register: signed, at least once, with honest retries. */
export async function createService(context: ServiceContext<Properties>): Promise<ServiceParts> {
  const { configuration, runner, log, tracer, metrics, clock } = context;
  const { verbs, pool, eventLog, deadLetters, access, deliverDue } = await openVerbs(context);
  await followConfiguration(context, eventLog);
  const { rateLimits } = await openEdgeLimits(context);

  const consumer = { service: "webhook-delivery", name: "fan-out", eventLog, pool, deadLetters } as const;
  createConsumer({
    ...consumer,
    table: createConsumerTable(verbs),
    inboxRetentionMs: configuration.get("events.inbox.retention"),
    ...{ log, tracer, metrics, clock },
  }).start(context);
  const sealer = createSealer(configuration.get("secrets.keys"));
  const idempotency = createIdempotencyStore({ service: context.service, pool, sealer, clock });
  runner.worker("idempotency", idempotency.clean);
  startWorkers(runner, {
    deliverDue,
    deliveries: verbs.deliveries,
    accessStates: access.accessStates,
    clock,
    log,
    retentionMs: () => configuration.get("webhook-delivery.retention"),
  });

  const published = { routes: createServiceRoutes(verbs), openapi: { title: "Signalbox webhooks", version: "1" } };
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
      routes: exportedEndpoints(verbs),
      mounts: { "/graphql": await createDeliverySubgraph(verbs, log) },
      published,
    }),
    authorizeManagement: access.authorizeManagement,
  };
}

async function openVerbs(context: ServiceContext<Properties>) {
  const { configuration, clock, log, tracer, metrics, runner } = context;
  const pool = await openDatabase(context, prismaDirectory);
  const eventLog = await openServiceLog(context);
  const { outbox, deadLetters } = openOutbox(context, pool, eventLog);
  const access = await openAccess(context, eventLog);
  const stateOf = (accountId: string) => access.accessStates.stateOf(accountId)?.state ?? "active";

  const outbound = createOutboundClient({
    allow: configuration.get("webhook-delivery.outbound.allow"),
    refusePorts: ownPorts,
    // As many as there are attempts: one that waits for a connection would spend its deadline on it.
    connectionsPerOriginMax: configuration.get("webhook-delivery.attempts.in-flight-max"),
    clock,
  });
  runner.defer("outbound client", () => outbound.close());
  const endpoints = createEndpointStore(pool, createSealer(configuration.get("secrets.keys")));
  const deliveries = createDeliveryStore(pool);
  const due = createDueDeliveries(pool);
  metrics.gauge(
    "signalbox_webhook_due_age_seconds",
    "How long the oldest due delivery has waited",
    [],
    async (gauge) => {
      const oldest = await due.oldestDue().catch(() => null);
      gauge.set({}, oldest === null ? 0 : Math.max(0, clock.nowMs() - oldest.getTime()) / 1000);
    },
  );
  const assertTarget = createAssertTarget(outbound);
  const writing = { pool, endpoints, deliveries, outbox, clock };
  const deliverDue = createDeliverDue({
    due,
    attemptDelivery: createAttemptDelivery({
      outbound,
      endpoints,
      clock,
      timeoutMs: () => configuration.get("webhook-delivery.attempt.timeout"),
    }),
    settleAttempt: createSettleAttempt({ ...writing, due }),
    stateOf,
    clock,
    log,
    tracer,
    metrics,
    leaseMs: configuration.get("webhook-delivery.attempts.lease"),
    inFlightMax: configuration.get("webhook-delivery.attempts.in-flight-max"),
    inFlightMaxPerEndpoint: configuration.get("webhook-delivery.attempts.in-flight-max-per-endpoint"),
  });
  const verbs = {
    endpoints,
    deliveries,
    createEndpoint: createCreateEndpoint({
      ...writing,
      assertTarget,
      endpointsMax: () => configuration.get("webhook-delivery.endpoints.max"),
    }),
    endpointWrites: createChangeEndpoint({
      ...writing,
      assertTarget,
      rotationOverlapMs: () => configuration.get("webhook-delivery.secret.rotation-overlap"),
    }),
    scheduleDeliveries: createScheduleDeliveries({ endpoints, deliveries, clock, stateOf, wake: deliverDue.wake }),
    wakeDeliveries: deliverDue.wake,
    limits: {
      maxPageSize: () => configuration.get("limits.maxPageSize"),
      pageSize: () => configuration.get("defaults.pageSize"),
    },
  };
  return { verbs, pool, eventLog, deadLetters, access, deliverDue };
}
