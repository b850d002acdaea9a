import type { AccessStates } from "@signalbox/auth";
import { type Clock, seconds } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import { type Pool, startRetention } from "@signalbox/storage";
import type { Logger, Metrics } from "@signalbox/telemetry";
import type { Deliveries } from "./deliveries/deliveries.ts";
import type { DeliveryWorker } from "./deliveries/delivery-worker.ts";
import type { DueDeliveries } from "./deliveries/due-deliveries.ts";

interface Dependencies {
  readonly deliveryWorker: DeliveryWorker;
  readonly deliveries: Deliveries;
  readonly dueDeliveries: DueDeliveries;
  readonly accessStates: AccessStates;
  readonly mayWrite: (accountId: string) => boolean;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly retentionMs: () => number;
}

/** Starts the long-running parts that are this service's own. */
export function startWorkers(runner: Runner, dependencies: Dependencies): void {
  const { deliveryWorker, deliveries, accessStates, mayWrite, pool, clock, log, retentionMs } = dependencies;
  runner.worker("deliveries", (signal, beat) => deliveryWorker.run(signal, beat));
  runner.every("held deliveries", seconds(30), async () => {
    if (accessStates.isCaughtUp()) await deliveries.recheckHeld();
  });
  startRetention({ runner, pool, clock }, [
    { name: "trim events", table: "webhook_events", column: "created_at", keepMs: retentionMs },
  ]);

  const stop = accessStates.onChange(({ kind, accountId }) => {
    // The history that is read at the start is no news; the worker above looks at what is held.
    if (kind !== "account" || !accessStates.isCaughtUp() || !mayWrite(accountId)) return;
    deliveries
      .releaseOf(accountId)
      .catch((error: unknown) => log.error({ error, accountId }, "held deliveries could not be released yet"));
  });
  runner.defer("access listener", stop);
  observeDueAge(dependencies);
}

function observeDueAge({ metrics, dueDeliveries, clock }: Dependencies): void {
  const name = "signalbox_webhook_due_age_seconds";
  metrics.gauge(name, "How long the oldest due delivery has waited", [], async (gauge) => {
    const oldest = await dueDeliveries.oldestDue().catch(() => null);
    gauge.set({}, oldest === null ? 0 : Math.max(0, clock.nowMs() - oldest.getTime()) / 1000);
  });
}
