import type { Clock } from "@signalbox/core";
import type { Metrics } from "@signalbox/runtime";
import type { SchemeName } from "@signalbox/webhook-signatures";
import { RefusedShares } from "./refused-shares.ts";

/** The outcome of a webhook; `scheme` is null for an unknown source, `reason` is that of a refusal. */
interface CountedOutcome {
  readonly outcome: string;
  readonly scheme: SchemeName | null;
  readonly reason?: string;
}

/** The outcomes of webhooks, counted by scheme and never by source, because sources are unbounded. */
export class ReceivingMetrics {
  readonly #outcomes;
  readonly #refusals;
  readonly #verification;
  readonly #dropped;
  readonly #shares: RefusedShares;

  constructor(metrics: Metrics, clock: Clock) {
    this.#outcomes = metrics.counter("signalbox_webhooks_received_total");
    this.#refusals = metrics.counter("signalbox_webhooks_refused_total");
    this.#verification = metrics.histogram("signalbox_webhook_verification_seconds");
    this.#dropped = metrics.counter("signalbox_webhook_rejections_dropped_total");
    this.#shares = new RefusedShares(clock);
    metrics.gauge("signalbox_webhook_sources_mostly_refused", async (gauge) => {
      gauge.set({}, this.#shares.mostlyRefused().length);
    });
  }

  countOutcome(sourceId: string, { outcome, scheme, reason }: CountedOutcome): void {
    if (scheme === null) {
      this.#outcomes.inc({ scheme: "none", outcome: "unknown_source" });
      return;
    }
    const isRefused = reason !== undefined;
    this.#outcomes.inc({ scheme, outcome: isRefused ? "refused" : outcome });
    if (isRefused) this.#refusals.inc({ scheme, reason });
    this.#shares.count(sourceId, isRefused);
  }

  /** Counts a webhook that was refused before its source was looked up. */
  countTurnedAway(reason: "allowance_used" | "in_hand" | "body_too_large" | "body_too_slow"): void {
    this.#refusals.inc({ scheme: "none", reason });
  }

  /** Counts a rejection that was not written. */
  countDroppedRejection(): void {
    this.#dropped.inc();
  }

  observeVerification(scheme: SchemeName, seconds: number): void {
    this.#verification.observe({ scheme }, seconds);
  }
}
