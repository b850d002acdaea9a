import { setTimeout as sleep } from "node:timers/promises";
import type { AccessStates } from "@signalbox/auth";
import { mayAccess } from "@signalbox/contracts";
import { type Clock, hours, seconds } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import type { Logger } from "@signalbox/telemetry";
import type { DeliverDue } from "./deliveries/deliver-due.ts";
import type { DeliveryStore } from "./deliveries/delivery-store.ts";
import { createReleaseHeld } from "./deliveries/release-held.ts";

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
  const { releaseOf, recheck } = createReleaseHeld({ deliveries, accessStates, clock, wake: deliverDue.wake });

  runner.worker("deliveries", async (signal, beat) => {
    // Until then nobody knows whose deliveries have to wait.
    while (!accessStates.isCaughtUp() && !signal.aborted) {
      beat();
      await sleep(50, undefined, { signal }).catch(() => {});
    }
    await deliverDue.run(signal, beat);
  });

  runner.worker("held deliveries", async (signal) => {
    while (!signal.aborted) {
      if (accessStates.isCaughtUp()) await recheck();
      await sleep(seconds(30), undefined, { signal }).catch(() => {});
    }
  });

  runner.worker("trim events", async (signal) => {
    while (!signal.aborted) {
      while ((await deliveries.trim(new Date(clock.nowMs() - retentionMs()))) > 0 && !signal.aborted);
      await sleep(hours(1), undefined, { signal }).catch(() => {});
    }
  });

  const stop = accessStates.onChange(({ kind, accountId }) => {
    // The history that is read at the start is no news; the worker above looks at what is held.
    if (kind !== "account" || !accessStates.isCaughtUp()) return;
    if (!mayAccess(accessStates.stateOf(accountId)?.state ?? "active", "write")) return;
    releaseOf(accountId).catch((error: unknown) =>
      log.error({ error, accountId }, "held deliveries could not be released yet"),
    );
  });
  runner.defer("access listener", stop);
}
