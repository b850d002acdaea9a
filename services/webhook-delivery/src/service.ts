import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { seconds } from "@signalbox/core";
import { publishEvents as publishReports, ReplayEngine } from "@signalbox/events";
import { openOutboundClient } from "@signalbox/net";
import { createWakeUp, type ServiceParts, type WakeUp } from "@signalbox/runtime";
import { createStatistics, type OpenedService, openPrincipals, openService } from "@signalbox/service";
import { atStart, createSealer, type Pool, type Sealer } from "@signalbox/storage";
import { openCanary } from "./canary/canary.ts";
import { consumers } from "./consumers.ts";
import type { DeliveryContext, DeliveryService } from "./context/delivery-service.ts";
import { keepDeliveryDays } from "./deliveries/delivery-days.ts";
import { whyDelivered } from "./deliveries/why-delivered.ts";
import { serviceEdges } from "./edges.ts";
import { internalRoutes } from "./endpoints/endpoint-api.ts";
import { sealedColumns } from "./endpoints/secret-store.ts";
import { Announcements } from "./events/announcements.ts";
import { PublicationCounts } from "./events/publication-counts.ts";
import { TypeNames } from "./events/type-names.ts";
import { judgeEndpoints } from "./outcomes/endpoint-health.ts";
import { writeResults } from "./outcomes/write-results.ts";
import { joinPublications, publishedEvents, publishTogether } from "./publishing/publish-events.ts";
import { replayKind } from "./replays/replay.ts";
import { whyReplayed } from "./replays/why-replayed.ts";
import { attemptDelivery, type Sender } from "./sending/attempt-delivery.ts";
import { type Attempt, AttemptLoop } from "./sending/attempt-loop.ts";
import { AttemptResults, type Consequences } from "./sending/attempt-results.ts";
import { idleMsMax } from "./sending/claim-loop.ts";
import { EndpointCache } from "./sending/endpoint-cache.ts";
import { Lanes } from "./sending/lanes.ts";
import { Leases } from "./sending/leases.ts";
import { OpenLeases } from "./sending/open-leases.ts";
import { PullWaits } from "./sending/pull-waits.ts";
import { readAccounts, readOperators } from "./sending/signing-endpoint.ts";
import { createEnforcedTypes } from "./state/enforced-types.ts";
import { SchemaThreads } from "./state/schema-threads.ts";
import { livingEndpoints } from "./statistics/attempt-statistics.ts";
import { workers } from "./workers.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
const schemaFile = new URL("../subgraph.graphql", import.meta.url);

const accountsMax = 10_000;
const ownTimeoutMsMax = seconds(30);
/** Margin for the record of an attempt, and for a clock that runs a little fast. */
const recordMs = seconds(10);

/** Builds the service that delivers events to the endpoints of accounts: signed, at least once, with retries. */
export async function createService(context: DeliveryContext): Promise<ServiceParts> {
  const { configuration, clock, log } = context;
  const sealer = createSealer(configuration.get("secrets.keys"));
  const rateLimits = () => [publishLimit(context)];
  const opened = await openService(context, { prismaDirectory, rateLimits, sealer, sealedColumns });
  const { pool, consume, serve } = opened;
  const sender = await openSender(context, pool, sealer);
  const service = fillService(context, opened, sealer, sender);
  consumers(service, consume);
  const keepDays = () => keepDeliveryDays(pool, clock, () => configuration.get("webhook-delivery.retention"));
  // Before the first event: a row that finds no table for its day has to be moved later.
  await atStart(keepDays, { waitMs: configuration.get("database.start-wait"), log });
  workers(context, service, keepDays);
  return serve({
    title: "Signalbox webhooks",
    sendsWebhooks: true,
    principals: openPrincipals(context),
    edges: serviceEdges(service),
    internalRoutes: internalRoutes(service),
    whyFinders: [...whyDelivered(service), ...whyReplayed(service)],
    typeDefs: await readFile(schemaFile, "utf8"),
  });
}

function fillService(context: DeliveryContext, opened: OpenedService, sealer: Sealer, sender: Sender): DeliveryService {
  const { clock } = context;
  const { pool, eventLog, outbox, limiterOf } = opened;
  const wakeUp = createWakeUp(idleMsMax);
  const service: DeliveryService = {
    ...context,
    ...opened,
    sealer,
    sender,
    endpointCache: new EndpointCache(
      { ofAccounts: (ids) => readAccounts(pool, sealer, ids), ofOperators: () => readOperators(pool, sealer) },
      accountsMax,
    ),
    publishLimiter: limiterOf(publishLimit(context)),
    publications: joinPublications(clock, (batch) => publishTogether(service, batch)),
    publicationCounts: new PublicationCounts(pool, clock),
    announcements: new Announcements((drafts) => publishReports({ ...context, eventLog }, drafts)),
    typeNames: new TypeNames(pool),
    enforcedTypes: createEnforcedTypes(pool),
    schemaThreads: openSchemaThreads(context),
    wakeUp,
    ...openSending(context, opened, sender, wakeUp, {
      write: (batch) => writeResults(service, batch),
      judge: (endpointIds) => judgeEndpoints(service, endpointIds),
    }),
    pullWaits: openPullWaits(context, pool),
    openLeases: new OpenLeases(pool),
    replayEngine: new ReplayEngine(replayKind, { pool, outbox, clock }),
    statistics: createStatistics({ pool, clock, livingSubjects: livingEndpoints }),
  };
  return service;
}

async function openSender(context: DeliveryContext, pool: Pool, sealer: Sealer): Promise<Sender> {
  const { configuration, clock, tracer } = context;
  const leaseMs = leaseOf(context);
  return {
    outbound: openOutbound(context),
    canary: await openCanary(context, pool, sealer),
    clock,
    tracer,
    timeoutMs: () => Math.min(configuration.get("webhook-delivery.attempt.timeout"), leaseMs - recordMs),
    baseUrl: configuration.get("http.base-url"),
  };
}

/** Opens the loop of attempts with the state that it shares with the loop of claims. */
function openSending(
  { configuration, clock, log, metrics }: DeliveryContext,
  { pool, presence }: OpenedService,
  sender: Sender,
  { wake }: WakeUp,
  consequences: Consequences,
) {
  const lanes = new Lanes({
    inFlightMax: configuration.get("webhook-delivery.attempts.in-flight-max"),
    inFlightMaxPerEndpoint: configuration.get("webhook-delivery.attempts.in-flight-max-per-endpoint"),
    inFlightMaxPerHost: configuration.get("webhook-delivery.attempts.in-flight-max-per-host"),
  });
  const leaseMs = configuration.get("webhook-delivery.attempts.lease");
  const leases = new Leases({ pool, presence, clock, log, leaseMs });
  const results = new AttemptResults({
    pool,
    consequences,
    clock,
    log,
    metrics,
    delayMsMin: configuration.get("webhook-delivery.attempts.delay-min"),
    onPostponed: (delayMs) => void (delayMs < 1_000 && setTimeout(wake, delayMs).unref()),
  });
  const attempt: Attempt = (delivery, endpoint) => attemptDelivery(sender, delivery, endpoint);
  const attemptMsMax = () => Math.max(sender.timeoutMs(), ownTimeoutMsMax);
  const attempts = new AttemptLoop({ lanes, leases, attempt, results, clock, log, attemptMsMax, wake });
  return { lanes, leases, results, attempts };
}

function openSchemaThreads({ clock, runner }: DeliveryContext): SchemaThreads {
  const schemaThreads = new SchemaThreads(() => clock.steadyMs());
  runner.defer("schema threads", () => schemaThreads.close());
  return schemaThreads;
}

/** Limits the events of an account, whose lists count by their length. */
const publishLimit = ({ configuration }: DeliveryContext) => ({
  name: publishedEvents,
  limit: configuration.get("webhook-delivery.published-events.max"),
  windowMs: seconds(10),
  per: "account" as const,
});

/** Returns the lease of a delivery. Refuses one shorter than an attempt, which another instance would then repeat. */
function leaseOf({ configuration }: DeliveryContext): number {
  const leaseMs = configuration.get("webhook-delivery.attempts.lease");
  const leastMs = Math.max(configuration.get("webhook-delivery.attempt.timeout"), ownTimeoutMsMax) + recordMs;
  if (leaseMs > leastMs) return leaseMs;
  throw new Error(
    `webhook-delivery.attempts.lease is ${leaseMs} ms; it must be more than ${leastMs} ms, which is 10 s more than the longest attempt`,
  );
}

function openOutbound(context: DeliveryContext) {
  const { configuration } = context;
  return openOutboundClient(context, {
    allow: configuration.get("webhook-delivery.outbound.allow"),
    proxy: configuration.get("webhook-delivery.outbound.proxy"),
    http2: configuration.get("webhook-delivery.outbound.http2"),
    // As many connections as attempts: waiting for a connection would use up an attempt's deadline.
    connectionsPerOriginMax: configuration.get("webhook-delivery.attempts.in-flight-max-per-host"),
    idleTimeoutMs: seconds(60),
  });
}

function openPullWaits({ configuration, runner }: DeliveryContext, pool: Pool): PullWaits {
  const pullWaits = new PullWaits(pool, {
    all: configuration.get("webhook-delivery.pull.waits-max"),
    perAccount: configuration.get("webhook-delivery.pull.waits-max-per-account"),
  });
  runner.defer("pull waits", () => pullWaits.close());
  runner.onDrain(
    "pull waits",
    () => pullWaits.drain(),
    () => pullWaits.count,
  );
  return pullWaits;
}
