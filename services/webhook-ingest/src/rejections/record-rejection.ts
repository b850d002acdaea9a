import { newId } from "@signalbox/core";
import type { PreparedEvent } from "@signalbox/events";
import type { IngestService } from "../context/ingest-service.ts";
import { verifyUrlOf } from "../sources/source-view.ts";
import { type RejectedWebhook, type Rejection, type RejectionFigures, rejectedEvent } from "./rejection.ts";
import { insertRejection, isKeptWhole } from "./rejection-store.ts";

/** A refusal as the route knows it; `sourceId` may be any address of the source. */
interface Refusal {
  readonly sourceId: string;
  readonly reason: string;
  readonly status: number;
  readonly bodyBytes: number;
  readonly address: string;
}

/** The evidence of a refusal. */
export interface Evidence {
  /** Given when the source keeps refused webhooks. */
  readonly webhook?: RejectedWebhook | null;
  /** Called for a rejection that is written. */
  readonly figures?: (() => RejectionFigures) | undefined;
}

/**
 * Counts why a webhook was refused, and records it for the owner of the source. It is not part of the answer: a partner
 * with a wrong secret gets its answer even while the database is away.
 */
export function recordRejection(service: IngestService, refusal: Refusal, evidence: Evidence = {}): void {
  // While the database is away, the account of a source that is not in memory is unknown.
  recordAtSource(service, refusal, evidence).catch(() => service.receivingMetrics.countDroppedRejection());
}

/** Records a rejection for any of the source's addresses. Other addresses have no owner. */
async function recordAtSource(service: IngestService, refusal: Refusal, evidence: Evidence): Promise<void> {
  const { sourceCache, sourceStatistics } = service;
  const known = await sourceCache.find(await sourceCache.idAt(refusal.sourceId));
  if (known === null) return;
  const { id: sourceId, accountId } = known.source;
  sourceStatistics.countRejection(known.source, refusal.reason);
  await recordWithinBudget(service, accountId, { ...refusal, sourceId }, evidence);
}

/** Writes the rejection with its event. Beyond the bound rejections are only counted; the log gets the first of a second. */
async function recordWithinBudget(
  service: IngestService,
  accountId: string,
  refusal: Refusal,
  { webhook = null, figures }: Evidence,
): Promise<void> {
  const { rejectionBudget, receivingMetrics, clock, log } = service;
  const { isFirst, isWithin } = rejectionBudget.take(refusal.sourceId);
  if (isFirst) log.info(refusal, "webhook refused");
  if (!isWithin) return receivingMetrics.countDroppedRejection();
  const rejection = {
    ...refusal,
    id: newId("rej", clock.nowMs()),
    rejectedAt: clock.now(),
    figures: figures?.() ?? null,
    isKept: webhook !== null && isKeptWhole(webhook),
    receivedId: null,
  };
  await write(service, accountId, rejection, webhook).catch((error: unknown) => {
    receivingMetrics.countDroppedRejection();
    log.warn({ error, sourceId: refusal.sourceId }, "a rejection could not be written");
  });
}

async function write(
  service: IngestService,
  accountId: string,
  rejection: Rejection,
  webhook: RejectedWebhook | null,
): Promise<void> {
  const { outbox, configuration } = service;
  const [event] = outbox.prepare([rejectedEvent(accountId, rejection, verifyUrlOf(service, rejection.sourceId))]);
  const keptMax = configuration.get("webhook-ingest.rejections.max");
  outbox.announce(await insertRejection(service, rejection, event as PreparedEvent, keptMax, webhook));
}
