import type { Caller } from "@signalbox/auth";
import { type Clock, newId } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { isProxyError } from "@signalbox/net";
import { audited } from "@signalbox/service";
import { inTransaction, type Pool } from "@signalbox/storage";
import type { Attempt } from "../deliveries/attempt.ts";
import { deliveryIdOf } from "../deliveries/delivery-id.ts";
import { type Endpoint, viewEndpoint } from "../endpoints/endpoint.ts";
import type { EndpointDirectory } from "../endpoints/endpoint-directory.ts";
import type { AttemptResults } from "./attempt-results.ts";
import type { Dispatcher, DispatcherDependencies } from "./dispatcher.ts";
import { insertDeliveries, type NewEvent } from "./insert-deliveries.ts";
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
    const { id: eventId, type: eventType, accountId, body, traceparent, createdAt } = event;
    const delivery = {
      ...{ id, endpointId: endpoint.id, accountId, eventId, eventType, body, traceparent, createdAt, leasedUntil },
      ...{ purpose: "test" as const, attempts: 0, wasExhausted: false, replayId: null, orderKey: null, sequence: null },
      dueAt: createdAt.toISOString(),
    };
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

function testEvent(endpoint: Endpoint, at: Date): NewEvent {
  const [id, type] = [newId("evt", at.getTime()), "webhook_endpoint.test"];
  const envelope = {
    ...{ id, type, created_at: at.toISOString(), data: viewEndpoint(endpoint) },
    ...{ api_version: "v1", account_id: endpoint.accountId },
  };
  const body = Buffer.from(JSON.stringify(envelope));
  return { id, accountId: endpoint.accountId, type, body, traceparent: null, createdAt: at };
}
