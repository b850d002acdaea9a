import type { Clock } from "@signalbox/core";
import type { Metrics } from "@signalbox/telemetry";
import type { ReceiveOutcome } from "./receive-webhook.ts";
import { createRefusedShares } from "./refused-shares.ts";

/** Counts the outcomes of webhooks by scheme, never by source, because sources are unbounded. */
export function createReceivingMetrics(metrics: Metrics, clock: Clock) {
  const outcomes = metrics.counter("signalbox_webhooks_received_total");
  const refusals = metrics.counter("signalbox_webhooks_refused_total");
  const verification = metrics.histogram("signalbox_webhook_verification_seconds");
  const shares = createRefusedShares(clock);
  metrics.gauge("signalbox_webhook_sources_mostly_refused", async (gauge) => {
    gauge.set({}, shares.mostlyRefused().length);
  });

  return {
    countOutcome(sourceId: string, { outcome, scheme, ...result }: ReceiveOutcome): void {
      if (scheme === null) {
        outcomes.inc({ scheme: "none", outcome: "unknown_source" });
        return;
      }
      const reason = "reason" in result ? result.reason : null;
      outcomes.inc({ scheme, outcome: reason === null ? outcome : "refused" });
      if (reason !== null) refusals.inc({ scheme, reason });
      shares.count(sourceId, reason !== null);
    },
    /** Counts a webhook that was refused before its source was looked up. */
    countTurnedAway: (reason: "allowance_used" | "in_hand" | "body_too_large" | "body_too_slow"): void => {
      refusals.inc({ scheme: "none", reason });
    },
    observeVerification: (scheme: string, seconds: number): void => {
      verification.observe({ scheme }, seconds);
    },
  };
}

export type ReceivingMetrics = ReturnType<typeof createReceivingMetrics>;
