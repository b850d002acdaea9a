import type { Caller } from "@signalbox/auth";
import { AppError, newId } from "@signalbox/core";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { IngestService } from "../context/ingest-service.ts";
import { judgePosted } from "../judging/judge-webhook.ts";
import { addressOf } from "../sources/source.ts";
import { type LockedRejection, saveRetried } from "./rejection-store.ts";

export type RetryOutcome =
  | { readonly outcome: "received"; readonly receivedId: string }
  /** The partner sent it again meanwhile, or it was already retried. */
  | { readonly outcome: "repeated"; readonly receivedId: string | null }
  | { readonly outcome: "refused"; readonly reason: string }
  | { readonly outcome: "not-kept" };

/**
 * Verifies a refused webhook again, with the current secrets and settings at the time of its arrival, so that a wrong
 * secret costs no data. An accepted webhook becomes a received one like any other, and has one effect however often it is
 * retried.
 */
export async function retryRejection(
  service: IngestService,
  tx: Tx,
  caller: Caller,
  rejection: LockedRejection,
): Promise<RetryOutcome> {
  const { sourceCache, webhookWriter, outbox, clock } = service;
  const { webhook, sourceId, rejectedAt, receivedId } = rejection;
  if (receivedId !== null) return { outcome: "repeated", receivedId };
  if (webhook === null) return { outcome: "not-kept" };
  const known = await sourceCache.reread(sourceId);
  if (known === null) return { outcome: "refused", reason: "source_deleted" };
  const posted = { ...webhook, sourceId, address: addressOf(known.source) };
  const judgement = await judgePosted(service, posted, known, rejectedAt);
  if (judgement.outcome !== "accepted")
    return { outcome: "refused", reason: "reason" in judgement ? judgement.reason : judgement.outcome };
  // Received now: the day of its rejection may be past the retention.
  const receivedAt = clock.now();
  const received = { ...judgement.webhook, id: newId("rcv", receivedAt.getTime()), receivedAt };
  const outcome = await webhookWriter.write(received);
  if (outcome === "stale")
    throw new AppError("unavailable", "The source is being changed. Try again.", { retryAfterSeconds: 1 });
  if (outcome === "repeated") return { outcome, receivedId: null };
  await saveRetried(tx, rejection.id, received.id);
  await outbox.append(tx, [audited(caller, { action: "webhook_source.retry_rejection", subject: sourceId })]);
  return { outcome, receivedId: received.id };
}
