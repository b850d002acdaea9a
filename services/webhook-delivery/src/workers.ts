import { setTimeout as sleep } from "node:timers/promises";
import type { AccessStates } from "@signalbox/auth";
import { mayAccess } from "@signalbox/contracts";
import { type Clock, hours } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import type { Logger } from "@signalbox/telemetry";
import type { DeliverDue } from "./deliveries/deliver-due.ts";
import type { DeliveryStore } from "./deliveries/delivery-store.ts";

interface Dependencies {
  readonly deliverDue: DeliverDue;
  readonly deliveries: DeliveryStore;
  readonly accessStates: AccessStates;
  readonly clock: Clock;
  readonly log: Logger;
  readonly retentionMs: () => number;
}

/** The long-running parts that are this service's own. */
export function startWorkers(runner: Runner, dependencies: Dependencies): void {
  const { deliverDue, deliveries, accessStates, clock, log, retentionMs } = dependencies;
  runner.worker("deliveries", (signal, beat) => deliverDue.run(signal, beat));

  runner.worker("trim events", async (signal) => {
    while (!signal.aborted) {
      while ((await deliveries.trim(new Date(clock.nowMs() - retentionMs()))) > 0 && !signal.aborted);
      await sleep(hours(1), undefined, { signal }).catch(() => {});
    }
  });

  const stop = accessStates.onChange(({ kind, accountId }) => {
    const entry = accessStates.stateOf(accountId);
    if (kind !== "account" || entry === null || !mayAccess(entry.state, "write")) return;
    deliveries.releaseAccount(accountId, clock.now()).then(
      (released) => released > 0 && deliverDue.wake(),
      (error: unknown) => log.error({ error, accountId }, "held deliveries could not be released"),
    );
  });
  runner.defer("access listener", stop);
}
