import type { Caller } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { isProxyError } from "@signalbox/net";
import { audited } from "@signalbox/service";
import { inTransaction, type Pool } from "@signalbox/storage";
import type { Attempt } from "../deliveries/attempt.ts";
import { deliveryIdOf } from "../deliveries/delivery-id.ts";
import { type Endpoint, viewEndpoint } from "../endpoints/endpoint.ts";
import type { EndpointDirectory } from "../endpoints/endpoint-directory.ts";
import { customEventOf } from "../events/custom-event.ts";
import type { AttemptResults } from "./attempt-results.ts";
import type { Dispatcher, DispatcherDependencies } from "./dispatcher.ts";
import { insertDeliveries, leasedOf, type NewEvent } from "./insert-deliveries.ts";
import type { QueueWorker } from "./queue-worker.ts";

interface TestDependencies {
  readonly pool: Pool;
  readonly directory: EndpointDirectory;
  readonly queueWorker: Pick<QueueWorker, "instance">;
  readonly dispatcher: Pick<Dispatcher, "hold" | "forget">;
  readonly results: Pick<AttemptResults, "add">;
  readonly attempt: DispatcherDependencies["attempt"];
  readonly outbox: Pick<Outbox, "append">;
  readonly clock: Clock;
  readonly leaseMs: number;
}

export type TestEndpoint = ReturnType<typeof createEndpointTest>;

/**
 * Creates the operation that sends the event `webhook_endpoint.test` to an endpoint now, at any status, and returns the
 * attempt. The attempt is logged like every other, is made once, and does not count for the endpoint's health. Returns
 * null when nothing can be sent now.
 */
export function createEndpointTest({
  pool,
  directory,
  queueWorker,
  dispatcher,
  results,
  attempt,
  outbox,
  clock,
  leaseMs,
}: TestDependencies) {
  return async (caller: Caller, endpoint: Endpoint): Promise<Attempt | null> => {
    const { instance } = queueWorker;
    const signing = await directory.find(endpoint.accountId, endpoint.id, endpoint.revision);
    if (instance === null || signing === null) return null;
    const event = testEvent(endpoint, clock.now());
    const id = deliveryIdOf(event.id, event.createdAt, endpoint.id);
    const planned = { id, event, endpointId: endpoint.id, leased: true, delayMs: 0, order: null };
    const { leasedUntil } = await inTransaction(pool, async (tx) => {
      await outbox.append(tx, [audited(caller, { action: "webhook_endpoint.test", subject: endpoint.id })]);
      return insertDeliveries(tx, [], null, [planned], { leaseMs, instance });
    });
    const delivery = leasedOf(planned, "test", leasedUntil);
    dispatcher.hold(delivery, endpoint);
    try {
      const finished = await attempt(delivery, signing);
      await results.add({ ...finished, delivery, endpoint: signing });
      const { status } = finished.result;
      return { ...finished.attempt, decision: status !== null && isSuccess(status) ? "succeeded" : "exhausted" };
    } catch (error) {
      if (isProxyError(error)) return null;
      throw error;
    } finally {
      dispatcher.forget(delivery);
    }
  };
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** The test event has the envelope of a custom one. */
const testEvent = (endpoint: Endpoint, at: Date): NewEvent =>
  customEventOf({ type: "webhook_endpoint.test", data: viewEndpoint(endpoint) }, endpoint.accountId, at);
