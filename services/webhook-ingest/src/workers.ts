import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, hours } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import type { DeliveryStore } from "./receiving/delivery-store.ts";

interface Dependencies {
  readonly deliveries: DeliveryStore;
  readonly clock: Clock;
  readonly retentionMs: () => number;
}

/** The long-running parts that are this service's own. */
export function startWorkers(runner: Runner, { deliveries, clock, retentionMs }: Dependencies): void {
  runner.worker("trim received", async (signal) => {
    while (!signal.aborted) {
      while ((await deliveries.trimDeliveries(new Date(clock.nowMs() - retentionMs()))) > 0 && !signal.aborted);
      await sleep(hours(1), undefined, { signal }).catch(() => {});
    }
  });
}
