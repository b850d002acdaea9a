import type { Clock } from "@signalbox/core";
import type { WakeUp } from "@signalbox/runtime";
import type { Histogram, Logger, Metrics, Tracer } from "@signalbox/telemetry";
import { type AttemptDependencies, attemptDelivery } from "./attempt-delivery.ts";
import { recheckAfterMs } from "./deliveries.ts";
import type { DueDelivery } from "./due-deliveries.ts";
import { createInFlight } from "./in-flight.ts";
import { type SettleDependencies, settleAttempt } from "./settle-attempt.ts";

interface WorkerDependencies extends AttemptDependencies, SettleDependencies {
  /** Tells whether the account may act now; the deliveries of one that may not are held. */
  readonly mayWrite: (accountId: string) => boolean;
  /** False as long as nobody knows whose deliveries have to wait. */
  readonly isReady: () => boolean;
  /** Ends the sleep of the worker. */
  readonly wakeUp: WakeUp;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tracer: Tracer;
  readonly metrics: Metrics;
  readonly leaseMs: number;
  readonly inFlightMax: number;
  readonly inFlightMaxPerEndpoint: number;
}

/** The longest sleep: deliveries that another instance scheduled for now are found this late at most. */
export const idleMsMax = 500;

/** Makes the attempts that are due, so many at once in all and so many per endpoint. */
export class DeliveryWorker {
  readonly #dependencies: WorkerDependencies;
  readonly #inFlight = createInFlight();
  readonly #duration: Histogram<"outcome">;

  constructor(dependencies: WorkerDependencies) {
    this.#dependencies = dependencies;
    this.#duration = dependencies.metrics.histogram(
      "signalbox_webhook_attempt_seconds",
      "Time of one delivery attempt, by what came of it.",
      ["outcome"],
    );
  }

  /** Leases what is due and attempts it until the signal aborts; then finishes what is in hand. */
  async run(signal: AbortSignal, beat: () => void): Promise<void> {
    const { wakeUp, isReady } = this.#dependencies;
    while (!signal.aborted) {
      beat();
      wakeUp.reset();
      const begun = isReady() ? await this.#leaseSome() : 0;
      if (begun === 0) await wakeUp.wait(signal);
    }
    await this.#inFlight.settled();
  }

  /** Answers how many attempts were begun. */
  async #leaseSome(): Promise<number> {
    const { dueDeliveries, clock, leaseMs, inFlightMax, inFlightMaxPerEndpoint } = this.#dependencies;
    const free = Math.min(inFlightMax - this.#inFlight.count(), inFlightMaxPerEndpoint);
    if (free <= 0) return 0;
    const now = clock.now();
    const until = new Date(now.getTime() + leaseMs);
    const leased = await dueDeliveries.lease(free, now, until, this.#inFlight.fullEndpoints());
    const tooMany = leased.filter((delivery) => {
      const ownMax = Math.min(delivery.inFlightMax ?? inFlightMaxPerEndpoint, inFlightMaxPerEndpoint);
      if (this.#inFlight.countOf(delivery.endpointId) >= ownMax) return true;
      this.#begin(delivery, ownMax);
      return false;
    });
    if (tooMany.length > 0) await dueDeliveries.putBack(tooMany, until);
    return leased.length - tooMany.length;
  }

  #begin(delivery: DueDelivery, ownMax: number): void {
    const { log, wakeUp } = this.#dependencies;
    // The lease runs out and the delivery is attempted again: at least once, never lost.
    const attempt = this.#deliver(delivery).catch((error: unknown) =>
      log.error({ error, deliveryId: delivery.id }, "an attempt was not made or not recorded"),
    );
    void this.#inFlight.add(delivery.endpointId, attempt, ownMax).then(wakeUp.wake);
  }

  async #deliver(delivery: DueDelivery): Promise<void> {
    const { dueDeliveries, mayWrite, clock, log, tracer } = this.#dependencies;
    if (!mayWrite(delivery.accountId)) {
      return dueDeliveries.holdForAccount(delivery, new Date(clock.nowMs() + recheckAfterMs));
    }
    await tracer.withTraceparent(delivery.traceparent ?? undefined, () =>
      tracer.span("webhook attempt", { kind: "client" }, async () => {
        const { attempt, result } = await attemptDelivery(this.#dependencies, delivery);
        const settled = await settleAttempt(this.#dependencies, delivery, attempt, result);
        this.#duration.observe({ outcome: settled.outcome }, attempt.durationMs / 1000);
        const { id, endpointId, accountId, eventId, eventType } = delivery;
        const { number, status, error, durationMs } = attempt;
        const ids = { deliveryId: id, endpointId, accountId, eventId, eventType };
        log.info({ ...ids, number, status, failure: error, durationMs, ...settled }, "webhook attempt");
      }),
    );
  }
}
