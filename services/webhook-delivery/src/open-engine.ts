import { seconds } from "@signalbox/core";
import type { OutboundClient } from "@signalbox/net";
import type { ServiceContext, WakeUp } from "@signalbox/runtime";
import type { OpenedService } from "@signalbox/service";
import type { Pool } from "@signalbox/storage";
import type { Tracer } from "@signalbox/telemetry";
import { type CanaryReceiver, isCanary } from "./canary/canary-receiver.ts";
import { createOrderHolds } from "./deliveries/order-holds.ts";
import { createEndpointCache } from "./endpoints/endpoint-cache.ts";
import { createEndpointHealth, type HealthLimits } from "./endpoints/endpoint-health.ts";
import type { EndpointStatus } from "./endpoints/endpoint-status.ts";
import type { EndpointStore } from "./endpoints/endpoint-store.ts";
import type { Properties } from "./properties.ts";
import { createFanOut } from "./publishing/fan-out.ts";
import { createPullMessages, type PullEngine } from "./pull/pull-messages.ts";
import { createPullQueue } from "./pull/pull-queue.ts";
import { attemptDelivery } from "./sending/attempt-delivery.ts";
import { type Attempt, AttemptLoop } from "./sending/attempt-loop.ts";
import { AttemptResults } from "./sending/attempt-results.ts";
import { ClaimLoop } from "./sending/claim-loop.ts";
import { createDeliveryQueue } from "./sending/delivery-queue.ts";
import { createEndpointRates } from "./sending/endpoint-rates.ts";
import { createEndpointTest } from "./sending/endpoint-test.ts";
import { Lanes } from "./sending/lanes.ts";
import { Leases } from "./sending/leases.ts";
import { OpenLeases } from "./sending/open-leases.ts";
import { PullWaits } from "./sending/pull-waits.ts";
import { createWriteResults } from "./sending/write-results.ts";
import { createAttemptStatistics } from "./statistics/attempt-statistics.ts";

interface EngineDependencies {
  readonly endpointStore: EndpointStore;
  readonly endpointStatus: EndpointStatus;
  readonly outbound: OutboundClient;
  /** Gets the deliveries of the canary; null when it is off. */
  readonly canary: CanaryReceiver | null;
  readonly mayWrite: (accountId: string) => boolean;
  readonly wakeUp: WakeUp;
}

/** Number of accounts whose endpoints are kept in memory. */
const accountsMax = 10_000;
/** Longest timeout that an endpoint may set. */
const ownTimeoutMsMax = seconds(30);
/** Margin for the record of an attempt, and for a clock that runs a little fast. */
const recordMs = seconds(10);

/** Builds the path of a delivery: fan-out, queue, claim, attempt, result. */
export function openEngine(
  context: ServiceContext<Properties>,
  opened: OpenedService,
  { endpointStore, endpointStatus, outbound, canary, mayWrite, wakeUp }: EngineDependencies,
) {
  const { configuration, clock, log, tracer } = context;
  const { pool, outbox, presence, accessStates } = opened;
  const leaseMs = configuration.get("webhook-delivery.attempts.lease");
  const baseUrl = configuration.get("http.base-url");
  const timeoutMs = () => Math.min(configuration.get("webhook-delivery.attempt.timeout"), leaseMs - recordMs);
  assertLease(leaseMs, configuration.get("webhook-delivery.attempt.timeout"));
  const { wake } = wakeUp;
  const directory = createEndpointCache(endpointStore, accountsMax);
  const deliveryQueue = createDeliveryQueue(pool);
  const leases = new Leases({ pool, deliveryQueue, presence, clock, log, leaseMs });
  const access = { mayWrite, isReady: () => accessStates.isCaughtUp() };
  const lanes = new Lanes({
    inFlightMax: configuration.get("webhook-delivery.attempts.in-flight-max"),
    inFlightMaxPerEndpoint: configuration.get("webhook-delivery.attempts.in-flight-max-per-endpoint"),
    inFlightMaxPerHost: configuration.get("webhook-delivery.attempts.in-flight-max-per-host"),
  });

  const { endpointHealth, results } = createResults(context, opened, { endpointStore, endpointStatus, wakeUp });
  const attempt = traced(tracer, (delivery, endpoint) =>
    canary !== null && isCanary(endpoint)
      ? attemptDelivery({ ...canary, clock, timeoutMs, baseUrl }, delivery, { ...endpoint, url: canary.url })
      : attemptDelivery({ outbound, clock, timeoutMs, baseUrl }, delivery, endpoint),
  );
  const attemptMsMax = () => Math.max(timeoutMs(), ownTimeoutMsMax);
  const attempts = new AttemptLoop({ lanes, leases, attempt, results, clock, log, attemptMsMax, wake });
  const endpointRates = createEndpointRates(pool);
  const pullWaits = openPullWaits(context, opened);
  const claims = new ClaimLoop({
    lanes,
    leases,
    attempts,
    deliveryQueue,
    endpoints: { directory, endpointRates, endpointHealth },
    access,
    wakeUp,
    pullWaits,
  });
  const pullEngine = { directory, endpointRates, leases, results, access };
  return {
    claims,
    timeoutMs,
    deliveryQueue,
    attemptStatistics: createAttemptStatistics({ pool, clock }),
    pull: openPull(context, pool, { pullWaits, engine: pullEngine }),
    orderHolds: createOrderHolds({ pool, outbox, log, mayWrite, wake }),
    fanOut: createFanOut({ directory, lanes, leases, attempts, access, clock, wake, pullWaits }),
    testEndpoint: createEndpointTest({ pool, directory, lanes, leases, results, attempt, outbox, clock }),
  };
}

interface PullParts {
  readonly pullWaits: PullWaits;
  readonly engine: PullEngine;
}

/** Opens the path of a message: queue, lease, result. */
function openPull(
  { configuration, clock, log }: ServiceContext<Properties>,
  pool: Pool,
  { pullWaits, engine }: PullParts,
) {
  const openLeases = new OpenLeases(pool);
  const pullQueue = createPullQueue(pool);
  const baseUrl = configuration.get("http.base-url");
  const pullMessages = createPullMessages({ pullQueue, pullWaits, openLeases, engine, clock, log, baseUrl });
  return { pullMessages, openLeases, pullWaits };
}

/** Opens the waits for messages of pull endpoints, which end when the process leaves. */
function openPullWaits({ configuration, runner }: ServiceContext<Properties>, { pool }: OpenedService): PullWaits {
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

/** Makes each attempt in a span of the trace of its event. */
const traced =
  (tracer: Tracer, attempt: Attempt): Attempt =>
  (delivery, endpoint) =>
    tracer.withTraceparent(delivery.traceparent ?? undefined, () =>
      tracer.span("webhook attempt", { kind: "client" }, () => attempt(delivery, endpoint)),
    );

/** Creates the record of attempts, and the health of endpoints that follows from it. */
function createResults(
  { configuration, clock, log, metrics }: ServiceContext<Properties>,
  { pool, outbox }: OpenedService,
  { endpointStore, endpointStatus, wakeUp }: Pick<EngineDependencies, "endpointStore" | "endpointStatus" | "wakeUp">,
) {
  const limits = () => healthLimits(configuration);
  const endpointHealth = createEndpointHealth({ pool, endpointStore, endpointStatus, outbox, clock, log, limits });
  const published = () => configuration.get("webhook-delivery.attempts.published");
  const onReleased = wakeUp.wake;
  const writeResults = createWriteResults({
    pool,
    endpointStore,
    endpointStatus,
    limits,
    outbox,
    published,
    onReleased,
  });
  const results = new AttemptResults({
    pool,
    writeResults,
    endpointHealth,
    clock,
    log,
    metrics,
    delayMsMin: configuration.get("webhook-delivery.attempts.delay-min"),
    onPostponed: (delayMs) => void (delayMs < 1_000 && setTimeout(wakeUp.wake, delayMs).unref()),
  });
  return { endpointHealth, results };
}

function healthLimits(configuration: ServiceContext<Properties>["configuration"]): HealthLimits {
  return {
    failingAfterMs: configuration.get("webhook-delivery.failing.after"),
    failuresMin: configuration.get("webhook-delivery.failing.failures-min"),
    disableAfterMs: configuration.get("webhook-delivery.failing.disable-after"),
    disableFailuresMin: configuration.get("webhook-delivery.failing.disable-failures-min"),
    failedShare: configuration.get("webhook-delivery.failing.percent") / 100,
  };
}

/** Refuses a lease shorter than an attempt, because another instance would then repeat the attempt. */
function assertLease(leaseMs: number, timeoutMs: number): void {
  const leastMs = Math.max(timeoutMs, ownTimeoutMsMax) + recordMs;
  if (leaseMs > leastMs) return;
  throw new Error(
    `webhook-delivery.attempts.lease is ${leaseMs} ms; it must be more than ${leastMs} ms, which is 10 s more than the longest attempt`,
  );
}
