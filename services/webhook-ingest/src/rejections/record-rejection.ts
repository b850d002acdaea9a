import { newId } from "@signalbox/core";
import type { PreparedEvent } from "@signalbox/events";
import type { IngestService } from "../context/ingest-service.ts";
import {
  type Refusal,
  type RejectedWebhook,
  type Rejection,
  type RejectionFigures,
  rejectedEvent,
} from "./rejection.ts";
import { insertRejection, trimBodies } from "./rejection-store.ts";

export interface Evidence {
  /** Given when the source keeps refused webhooks. */
  readonly webhook?: RejectedWebhook | null;
  /** Called for a rejection that is written. */
  readonly figures?: (() => RejectionFigures) | undefined;
}

/** Records a refusal for its owner. A partner gets the answer even while the database is away. */
export function recordRejection(service: IngestService, refusal: Refusal, evidence: Evidence = {}): void {
  // While the database is away, the account of a source that is not in memory is unknown.
  record(service, refusal, evidence).catch(() => service.receivingMetrics.countDroppedRejection());
}

/** Records a rejection. Beyond the bound of a second they are only counted, and those that are kept have no event. */
async function record(service: IngestService, refusal: Refusal, { webhook = null, figures }: Evidence): Promise<void> {
  const { sourceCache, sourceStatistics, rejectionBudget, receivingMetrics, clock, log } = service;
  const known = await sourceCache.find(await sourceCache.idAt(refusal.sourceId));
  if (known === null) return;
  const { id: sourceId, accountId } = known.source;
  sourceStatistics.countRejection(known.source, refusal.reason);
  const { isFirst, isWithin } = rejectionBudget.take(sourceId);
  if (isFirst) log.info({ ...refusal, sourceId }, "webhook refused");
  if (!isWithin && webhook === null) return receivingMetrics.countDroppedRejection();
  const rejection = {
    ...refusal,
    sourceId,
    id: newId("rej", clock.nowMs()),
    rejectedAt: clock.now(),
    figures: figures?.() ?? null,
    isKept: webhook !== null,
    receivedId: null,
  };
  await write(service, isWithin ? accountId : null, rejection, webhook).catch((error: unknown) => {
    receivingMetrics.countDroppedRejection();
    log.warn({ error, sourceId }, "a rejection could not be written");
  });
}

async function write(
  service: IngestService,
  accountId: string | null,
  rejection: Rejection,
  webhook: RejectedWebhook | null,
): Promise<void> {
  const { outbox, configuration, rejectionBudget } = service;
  const { sourceId } = rejection;
  const [event] = accountId === null ? [] : outbox.prepare([rejectedEvent(service, accountId, rejection)]);
  const keptMax = configuration.get("webhook-ingest.rejections.max");
  outbox.announce(await insertRejection(service, rejection, (event as PreparedEvent) ?? null, keptMax, webhook));
  if (webhook === null) return;
  const bytesMax = configuration.get("webhook-ingest.rejections.max-bytes");
  const bytes = webhook.body.length + JSON.stringify(webhook.headers).length;
  if (rejectionBudget.isTrimDue(sourceId, bytes, bytesMax)) await trimBodies(service, sourceId, bytesMax);
}
