import { AppError } from "@signalbox/core";
import type { IngestService } from "../context/ingest-service.ts";
import type { PostedWebhook } from "../judging/decode-body.ts";
import { judgeCopy, judgePosted } from "../judging/judge-webhook.ts";
import { idKeyOf } from "../received/dedupe-keys.ts";
import type { Origin, ReceivedWebhook } from "../received/received-webhook.ts";
import { readable } from "../sources/sender-key.ts";
import { addressOf, ingestPathOf } from "../sources/source.ts";
import type { CachedSource } from "../sources/source-row.ts";
import { failMissed, isAskedMissed } from "./missed-store.ts";
import type { Reconciliation } from "./reconciliation.ts";
import type { SenderAccess, SenderHistory, WebhookCopy } from "./sender-history.ts";

/** One step of a run. */
export interface Turn {
  readonly run: Reconciliation;
  readonly known: CachedSource;
  readonly history: SenderHistory;
  readonly access: SenderAccess;
}

/** Takes a missed webhook as if it were pushed now. `other-bytes`: none of its bodies is what the sender signed. */
export async function recoverWebhook(
  service: IngestService,
  { known, history }: Turn,
  digest: Buffer,
  { headers, bodies }: WebhookCopy,
): Promise<"received" | "refused" | "other-bytes"> {
  const { source } = known;
  const place = { sourceId: source.id, address: addressOf(source), method: "POST", url: ingestPathOf(source) };
  for (const body of bodies) {
    const posted: PostedWebhook = { ...place, headers, body };
    // A copy of a list that holds whole webhooks is not signed: the read key proves it.
    const isSigned = history.fetch !== undefined;
    const judgement = isSigned ? await judgePosted(service, posted, known) : judgeCopy(service, posted, known);
    if (judgement.outcome === "accepted") {
      const outcome = await service.webhookWriter.write({ ...judgement.webhook, origin: "reconciled" });
      if (outcome === "stale")
        throw new AppError("unavailable", "The source is being changed.", { retryAfterSeconds: 1 });
      return "received";
    }
    if (judgement.outcome !== "not-verified") {
      const reason = "reason" in judgement ? judgement.reason : judgement.outcome;
      await failMissed(service.pool, source.id, digest, reason);
      return "refused";
    }
  }
  return "other-bytes";
}

/** Returns `reconciled` for a webhook that the sender was asked to send again. Few senders have to be asked. */
export async function originOf({ pool }: IngestService, { source, deliveryId }: ReceivedWebhook): Promise<Origin> {
  const { senderKey } = source;
  if (senderKey === null || readable[senderKey.sender].place === "key") return "pushed";
  return (await isAskedMissed(pool, source.id, idKeyOf(deliveryId.value))) ? "reconciled" : "pushed";
}
