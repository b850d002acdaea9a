import { seconds } from "@signalbox/core";
import type { OutboundClient } from "@signalbox/net";
import type { ServiceContext, WakeUp } from "@signalbox/runtime";
import type { OpenedService } from "@signalbox/service";
import { createFanOut } from "../deliveries/fan-out.ts";
import type { SigningEndpoint } from "../endpoints/endpoint-directory.ts";
import { createEndpointDirectory } from "../endpoints/endpoint-directory.ts";
import type { HealthLimits } from "../endpoints/endpoint-health.ts";
import { createEndpointHealth } from "../endpoints/endpoint-health.ts";
import type { EndpointStatus } from "../endpoints/endpoint-status.ts";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";
import type { Properties } from "../properties.ts";
import { attemptDelivery } from "./attempt-delivery.ts";
import { AttemptResults } from "./attempt-results.ts";
import { createDeliveryQueue, type LeasedDelivery } from "./delivery-queue.ts";
import { Dispatcher } from "./dispatcher.ts";
import { createEndpointRates } from "./endpoint-rates.ts";
import { createLeaseHolders } from "./lease-holders.ts";
import { createOrderHolds } from "./order-holds.ts";
import { QueueWorker } from "./queue-worker.ts";
import { createEndpointTest } from "./test-endpoint.ts";

interface EngineDependencies {
  readonly endpointStore: EndpointStore;
  readonly endpointStatus: EndpointStatus;
  readonly outbound: OutboundClient;
  readonly mayWrite: (accountId: string) => boolean;
  readonly wakeUp: WakeUp;
}

/** Number of accounts whose endpoints are kept in memory. */
const accountsMax = 10_000;
/** Longest timeout that an endpoint may set. */
const ownTimeoutMsMax = seconds(30);
/** Margin for the record of an attempt, and for a clock that runs a little fast. */
const recordMs = seconds(10);

/** Builds the path of a delivery: fan-out, queue, dispatcher, attempt, result. */
export function openEngine(
  { configuration, clock, log, tracer, metrics }: ServiceContext<Properties>,
  { pool, outbox, presence, accessStates }: OpenedService,
  { endpointStore, endpointStatus, outbound, mayWrite, wakeUp }: EngineDependencies,
) {
  const leaseMs = configuration.get("webhook-delivery.attempts.lease");
  const timeoutMs = () => Math.min(configuration.get("webhook-delivery.attempt.timeout"), leaseMs - recordMs);
  assertLease(leaseMs, configuration.get("webhook-delivery.attempt.timeout"));
  const directory = createEndpointDirectory(endpointStore, accountsMax);
  const deliveryQueue = createDeliveryQueue(pool, clock);
  const onPostponed = (delayMs: number) => void (delayMs < 1_000 && setTimeout(wakeUp.wake, delayMs).unref());
  const isReady = () => accessStates.isCaughtUp();
  const shared = { pool, outbox, clock, log, metrics, leaseMs, deliveryQueue, directory, isReady, mayWrite };

  const delayMsMin = configuration.get("webhook-delivery.attempts.delay-min");
  const limits = () => healthLimits(configuration);
  const published = () => configuration.get("webhook-delivery.attempts.published");
  const endpointHealth = createEndpointHealth({ ...shared, endpointStore, endpointStatus, limits });
  const results = new AttemptResults({
    ...shared,
    endpointStore,
    endpointStatus,
    endpointHealth,
    delayMsMin,
    onPostponed,
    published,
  });
  const attempt = (delivery: LeasedDelivery, endpoint: SigningEndpoint) =>
    tracer.withTraceparent(delivery.traceparent ?? undefined, () =>
      tracer.span("webhook attempt", { kind: "client" }, () =>
        attemptDelivery({ outbound, clock, timeoutMs }, delivery, endpoint),
      ),
    );
  const dispatcher = new Dispatcher({
    ...shared,
    results,
    attempt,
    attemptMsMax: () => Math.max(timeoutMs(), ownTimeoutMsMax),
    inFlightMax: configuration.get("webhook-delivery.attempts.in-flight-max"),
    inFlightMaxPerEndpoint: configuration.get("webhook-delivery.attempts.in-flight-max-per-endpoint"),
    inFlightMaxPerHost: configuration.get("webhook-delivery.attempts.in-flight-max-per-host"),
    onEmpty: (endpointId) => queueWorker.resume(endpointId),
    onHandedBack: (endpointId) => queueWorker.noteBacklog(endpointId),
  });
  const queueWorker: QueueWorker = new QueueWorker({
    ...shared,
    endpointRates: createEndpointRates(pool),
    leaseHolders: createLeaseHolders(pool),
    dispatcher,
    endpointHealth,
    presence,
    wakeUp,
  });
  const fanOut = createFanOut({ ...shared, dispatcher, queueWorker });
  const testEndpoint = createEndpointTest({ ...shared, queueWorker, dispatcher, results, attempt });
  const orderHolds = createOrderHolds({ ...shared, wake: wakeUp.wake });
  return { queueWorker, deliveryQueue, orderHolds, fanOut, testEndpoint };
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
