import type { Caller } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { requireScopeOf } from "../endpoints/endpoint.ts";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";
import type { DeliveryQueue } from "../queue/delivery-queue.ts";
import type { Delivery } from "./delivery.ts";

interface RetryDependencies {
  readonly endpointStore: Pick<EndpointStore, "find">;
  readonly deliveryQueue: Pick<DeliveryQueue, "requeue">;
  readonly outbox: Pick<Outbox, "append">;
  readonly clock: Clock;
  /** Wakes the worker, because a delivery is due. */
  readonly wake: () => void;
}

export type RetryDelivery = ReturnType<typeof createRetryDelivery>;

/** Creates the operation that attempts a delivery again, now. While its endpoint is paused or disabled it is held. */
export function createRetryDelivery({ deliveryQueue, endpointStore, outbox, clock, wake }: RetryDependencies) {
  return async (tx: Tx, caller: Caller, delivery: Delivery): Promise<Delivery> => {
    const endpoint = await endpointStore.find(caller.accountId, delivery.endpointId);
    if (endpoint) requireScopeOf(endpoint, caller);
    await deliveryQueue.requeue(tx, delivery);
    await outbox.append(tx, [audited(caller, { action: "webhook_delivery.retry", subject: delivery.id })]);
    tx.afterCommit(wake);
    return { ...delivery, status: delivery.status === "held" ? "held" : "pending", nextAttemptAt: clock.now() };
  };
}
