import { type AccountState, mayAccess } from "@signalbox/contracts";
import { type Clock, minutes } from "@signalbox/core";
import { createWakeUp } from "@signalbox/runtime";
import type { Logger, Metrics, Tracer } from "@signalbox/telemetry";
import type { createAttemptDelivery } from "./attempt-delivery.ts";
import type { DueDeliveries, DueDelivery } from "./due-deliveries.ts";
import { createInFlight } from "./in-flight.ts";
import type { createSettleAttempt } from "./settle-attempt.ts";

interface Dependencies {
  readonly due: DueDeliveries;
  readonly attemptDelivery: ReturnType<typeof createAttemptDelivery>;
  readonly settleAttempt: ReturnType<typeof createSettleAttempt>;
  readonly stateOf: (accountId: string) => AccountState;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tracer: Tracer;
  readonly metrics: Metrics;
  readonly leaseMs: number;
  readonly inFlightMax: number;
  readonly inFlightMaxPerEndpoint: number;
}

/** The longest sleep: deliveries that another instance scheduled for now are found this late at most. */
const idleMsMax = 500;
/** How long after it was held for its account a delivery is looked at again, should the word of the release be missed. */
export const recheckAfterMs = minutes(5);

export interface DeliverDue {
  /** The worker: leases what is due and attempts it, until the signal aborts; then finishes what is in hand. */
  run(signal: AbortSignal, beat: () => void): Promise<void>;
  /** Something is due now: look at once. */
  wake(): void;
}

/** Makes the attempts that are due, so many at once in all and so many per endpoint. */
export function createDeliverDue(dependencies: Dependencies): DeliverDue {
  const { due, attemptDelivery, settleAttempt, stateOf, clock, log, tracer, leaseMs } = dependencies;
  const { inFlightMax, inFlightMaxPerEndpoint } = dependencies;
  const inFlight = createInFlight();
  const wakeUp = createWakeUp(idleMsMax);
  const duration = dependencies.metrics.histogram(
    "signalbox_webhook_attempt_seconds",
    "Time of one delivery attempt, by what came of it.",
    ["outcome"],
  );

  async function deliver(delivery: DueDelivery): Promise<void> {
    if (!mayAccess(stateOf(delivery.accountId), "write")) {
      return due.holdForAccount(delivery, new Date(clock.nowMs() + recheckAfterMs));
    }
    await tracer.withTraceparent(delivery.traceparent ?? undefined, () =>
      tracer.span("webhook attempt", { kind: "client" }, async () => {
        const { attempt, result } = await attemptDelivery(delivery);
        const settled = await settleAttempt(delivery, attempt, result);
        duration.observe({ outcome: settled.outcome }, attempt.durationMs / 1000);
        const { id, endpointId, accountId, eventId, eventType } = delivery;
        const { number, status, error, durationMs } = attempt;
        const ids = { deliveryId: id, endpointId, accountId, eventId, eventType };
        log.info({ ...ids, number, status, failure: error, durationMs, ...settled }, "webhook attempt");
      }),
    );
  }

  function begin(delivery: DueDelivery, ownMax: number): void {
    // The lease runs out and the delivery is attempted again: at least once, never lost.
    const attempt = deliver(delivery).catch((error: unknown) =>
      log.error({ error, deliveryId: delivery.id }, "an attempt was not made or not recorded"),
    );
    void inFlight.add(delivery.endpointId, attempt, ownMax).then(wakeUp.wake);
  }

  /** Answers how many were begun. */
  async function leaseSome(): Promise<number> {
    const free = Math.min(inFlightMax - inFlight.count(), inFlightMaxPerEndpoint);
    if (free <= 0) return 0;
    const now = clock.now();
    const until = new Date(now.getTime() + leaseMs);
    const leased = await due.lease(free, now, until, inFlight.fullEndpoints());
    const tooMany = leased.filter((delivery) => {
      const ownMax = Math.min(delivery.inFlightMax ?? inFlightMaxPerEndpoint, inFlightMaxPerEndpoint);
      if (inFlight.countOf(delivery.endpointId) >= ownMax) return true;
      begin(delivery, ownMax);
      return false;
    });
    if (tooMany.length > 0) await due.putBack(tooMany, until);
    return leased.length - tooMany.length;
  }

  return {
    wake: wakeUp.wake,
    async run(signal, beat) {
      while (!signal.aborted) {
        beat();
        wakeUp.reset();
        if ((await leaseSome()) === 0) await wakeUp.wait(signal);
      }
      await inFlight.settled();
    },
  };
}
