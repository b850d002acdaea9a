import type { Caller } from "@signalbox/auth";
import { newId } from "@signalbox/core";
import type { ReplayStep } from "@signalbox/events";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { IngestService } from "../context/ingest-service.ts";
import type { Source } from "../sources/source.ts";
import type { RejectionRetry } from "./rejection-retry.ts";
import { countKeptRejections, lockKeptRejections } from "./rejection-store.ts";
import { verifyAgain } from "./rejections.ts";

/** Input of a new retry; null for any reason, from the beginning, and up to now. */
export interface NewRejectionRetry {
  readonly reason: string | null;
  readonly from: Date | null;
  readonly to: Date | null;
  readonly rate: number;
  /** Counts the rejections and verifies none. */
  readonly dryRun: boolean;
}

/** More rejections than the bytes of a source hold. */
const totalMax = 1_000_000;
/** Rejections of one transaction. */
const stepMax = 20;

/** Starts a retry of all kept rejections that a filter chooses; a dry run counts them. */
export async function startRejectionRetry(
  service: IngestService,
  tx: Tx,
  caller: Caller,
  { id: sourceId, accountId }: Source,
  { reason, from, to, rate, dryRun }: NewRejectionRetry,
) {
  const now = service.clock.now();
  const fromAt = from ?? new Date(0);
  const choice = { sourceId, reason, fromAt, toAt: to && to < now ? to : now };
  const retry: RejectionRetry = {
    ...choice,
    id: newId("rtr", now.getTime()),
    accountId,
    status: "running",
    eventTypes: [],
    rate,
    total: await countKeptRejections(tx, choice),
    received: 0,
    repeated: 0,
    refused: 0,
    positionAt: fromAt,
    positionId: "",
    createdAt: now,
    finishedAt: null,
  };
  const entry = audited(caller, { action: "webhook_source.retry_rejection", subject: sourceId });
  return service.retryEngine.start(tx, sourceId, retry, { totalMax, dryRun, entry });
}

/** Cancels a retry; what was received stays received. */
export function cancelRejectionRetry({ retryEngine }: IngestService, tx: Tx, caller: Caller, retry: RejectionRetry) {
  const entry = audited(caller, { action: "webhook_source.retry_rejection", subject: retry.sourceId });
  return retryEngine.cancel(tx, retry, entry);
}

/** Verifies the next few rejections of a retry, one after another, so that they are received in their order. */
export async function retryStep(
  service: IngestService,
  tx: Tx,
  retry: RejectionRetry,
): Promise<ReplayStep<RejectionRetry>> {
  const position = { at: retry.positionAt, id: retry.positionId };
  const limit = Math.min(stepMax, Math.max(1, Math.ceil(retry.rate / 10)));
  const rejections = await lockKeptRejections(service, tx, retry, position, limit);
  const counts = { received: retry.received, repeated: retry.repeated, refused: retry.refused };
  for (const rejection of rejections) {
    const { outcome } = await verifyAgain(service, tx, rejection);
    counts[outcome === "not-kept" ? "refused" : outcome]++;
  }
  const last = rejections.at(-1);
  const reached = last ? { positionAt: last.rejectedAt, positionId: last.id } : {};
  const count = rejections.length;
  return { replay: { ...retry, ...counts, ...reached }, count, isLast: count < limit };
}
