import type { Clock } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import type { DeliveryQueue } from "../queue/delivery-queue.ts";
import type { Delivery } from "./delivery.ts";

interface RetryDependencies {
  readonly deliveryQueue: Pick<DeliveryQueue, "requeue">;
  readonly clock: Clock;
  /** Tells the worker that something is due. */
  readonly wake: () => void;
}

export type RetryDelivery = ReturnType<typeof createRetryDelivery>;

/** Attempts a delivery once more, now. While its endpoint is paused or disabled it is held. */
export function createRetryDelivery({ deliveryQueue, clock, wake }: RetryDependencies) {
  return async (tx: Tx, delivery: Delivery): Promise<Delivery> => {
    await deliveryQueue.requeue(tx, delivery);
    tx.afterCommit(wake);
    return { ...delivery, status: delivery.status === "held" ? "held" : "pending", nextAttemptAt: clock.now() };
  };
}
