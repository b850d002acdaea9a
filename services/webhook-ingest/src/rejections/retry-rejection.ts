import type { Caller } from "@signalbox/auth";
import { AppError, newId } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { DeliveryWriter } from "../receiving/delivery-writer.ts";
import { type Judge, judgeAgainstSource, judgeAt } from "../receiving/judge-webhook.ts";
import { addressOf } from "../sources/source.ts";
import type { SourceCache } from "../sources/source-cache.ts";
import type { LockedRejection, RejectionStore } from "./rejection-store.ts";

interface Dependencies {
  readonly judge: Judge;
  readonly knownSources: Pick<SourceCache, "reread">;
  readonly deliveryWriter: Pick<DeliveryWriter, "write">;
  readonly rejectionStore: Pick<RejectionStore, "saveReceived">;
  readonly outbox: Outbox;
}

export type RetryOutcome =
  | { readonly outcome: "received"; readonly receivedId: string }
  /** The partner sent it again meanwhile, or it was already retried. */
  | { readonly outcome: "repeated"; readonly receivedId: string | null }
  | { readonly outcome: "refused"; readonly reason: string }
  | { readonly outcome: "not-kept" };

export type RetryRejection = ReturnType<typeof createRetryRejection>;

/**
 * Creates the operation that verifies a refused webhook again, with the current secrets and settings at the time of its
 * arrival, so that a wrong secret costs no data. An accepted webhook becomes a received one like any other, and has one
 * effect however often it is retried.
 */
export function createRetryRejection(dependencies: Dependencies) {
  const { judge, knownSources, deliveryWriter, rejectionStore, outbox } = dependencies;
  return async (tx: Tx, caller: Caller, rejection: LockedRejection): Promise<RetryOutcome> => {
    const { webhook, sourceId, rejectedAt, receivedId } = rejection;
    if (receivedId !== null) return { outcome: "repeated", receivedId };
    if (webhook === null) return { outcome: "not-kept" };
    const known = await knownSources.reread(sourceId);
    if (known === null) return { outcome: "refused", reason: "source_deleted" };
    const sent = { ...webhook, sourceId, address: addressOf(known.source) };
    const judgement = await judgeAgainstSource(judgeAt(judge, rejectedAt), sent, known);
    if (!("delivery" in judgement)) {
      return { outcome: "refused", reason: "reason" in judgement ? judgement.reason : judgement.outcome };
    }
    // Received now: the day of its rejection may be past the retention.
    const receivedAt = judge.clock.now();
    const delivery = { ...judgement.delivery, id: newId("rcv", receivedAt.getTime()), receivedAt };
    const outcome = await deliveryWriter.write(delivery);
    if (outcome === "stale")
      throw new AppError("unavailable", "The source is being changed. Try again.", { retryAfterSeconds: 1 });
    if (outcome === "repeated") return { outcome, receivedId: null };
    await rejectionStore.saveReceived(tx, rejection.id, delivery.id);
    await outbox.append(tx, [audited(caller, { action: "webhook_source.retry_rejection", subject: sourceId })]);
    return { outcome, receivedId: delivery.id };
  };
}
