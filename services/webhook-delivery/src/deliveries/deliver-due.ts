import { type AccountState, mayAccess } from "@signalbox/contracts";
import { type Clock, seconds } from "@signalbox/core";
import type { Logger, Metrics, Tracer } from "@signalbox/telemetry";
import type { createAttemptDelivery } from "./attempt-delivery.ts";
import type { DueDeliveries, DueDelivery } from "./due-deliveries.ts";
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
  readonly inFlightMax: number;
  readonly inFlightMaxPerEndpoint: number;
}

/** Longer than the longest attempt and its record, or a delivery in flight would be leased a second time. */
const leaseMs = seconds(90);
/** The longest sleep: deliveries that another instance scheduled for now are found this late at most. */
const idleMsMax = 500;

export interface DeliverDue {
  /** The worker: leases what is due and attempts it, until the signal aborts; then finishes what is in hand. */
  run(signal: AbortSignal, beat: () => void): Promise<void>;
  /** Something is due now: look at once. */
  wake(): void;
}

/** Makes the attempts that are due, so many at once in all and so many per endpoint. */
export function createDeliverDue(dependencies: Dependencies): DeliverDue {
  const { due, attemptDelivery, settleAttempt, stateOf, clock, log, tracer, inFlightMax, inFlightMaxPerEndpoint } =
    dependencies;
  const inFlight = new Map<string, Set<Promise<void>>>();
  const duration = dependencies.metrics.histogram(
    "webhook_attempt_duration_seconds",
    "Time of one delivery attempt, by what came of it.",
    ["outcome"],
  );
  let wakeUp = () => {};
  let isAwake = false;

  const wake = () => {
    isAwake = true;
    wakeUp();
  };
  const running = () => [...inFlight.values()].reduce((sum, attempts) => sum + attempts.size, 0);

  async function deliver(delivery: DueDelivery): Promise<void> {
    if (!mayAccess(stateOf(delivery.accountId), "write")) return due.putBack(delivery, "held");
    await tracer.withTraceparent(delivery.traceparent ?? undefined, () =>
      tracer.span("webhook attempt", { kind: "client" }, async () => {
        const { attempt, result } = await attemptDelivery(delivery);
        const judgement = await settleAttempt(delivery, attempt, result);
        duration.observe({ outcome: judgement.outcome }, attempt.durationMs / 1000);
        const { id, endpointId, eventId, eventType } = delivery;
        const { number, status, error, durationMs } = attempt;
        log.info(
          { deliveryId: id, endpointId, eventId, eventType, number, status, error, durationMs, ...judgement },
          "webhook attempt",
        );
      }),
    );
  }

  function begin(delivery: DueDelivery): void {
    const attempts = inFlight.get(delivery.endpointId) ?? new Set();
    inFlight.set(delivery.endpointId, attempts);
    const attempt = deliver(delivery)
      // The lease runs out and the delivery is attempted again: at least once, never lost.
      .catch((error: unknown) => log.error({ error, deliveryId: delivery.id }, "an attempt could not be recorded"))
      .finally(() => {
        attempts.delete(attempt);
        if (attempts.size === 0) inFlight.delete(delivery.endpointId);
        wake();
      });
    attempts.add(attempt);
  }

  async function leaseSome(): Promise<number> {
    const free = inFlightMax - running();
    if (free <= 0) return 0;
    const busy = [...inFlight].filter(([, attempts]) => attempts.size >= inFlightMaxPerEndpoint).map(([id]) => id);
    const now = clock.now();
    const leased = await due.lease(
      Math.min(free, inFlightMaxPerEndpoint),
      now,
      new Date(now.getTime() + leaseMs),
      busy,
    );
    for (const delivery of leased) {
      const attempts = inFlight.get(delivery.endpointId)?.size ?? 0;
      if (attempts < inFlightMaxPerEndpoint) begin(delivery);
      else await due.putBack(delivery, "pending");
    }
    return leased.length;
  }

  async function sleepUntilDue(signal: AbortSignal): Promise<void> {
    if (isAwake || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, idleMsMax);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
      signal.addEventListener("abort", () => wakeUp(), { once: true });
    });
  }

  return {
    wake,
    async run(signal, beat) {
      while (!signal.aborted) {
        beat();
        isAwake = false;
        if ((await leaseSome()) === 0) await sleepUntilDue(signal);
      }
      await Promise.all([...inFlight.values()].flatMap((attempts) => [...attempts]));
    },
  };
}
