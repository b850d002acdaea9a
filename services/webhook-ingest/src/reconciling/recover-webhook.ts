import { AppError } from "@signalbox/core";
import type { Webhook } from "../receiving/decode-body.ts";
import type { DeliveryWriter } from "../receiving/delivery-writer.ts";
import { type Judge, judgeAgainstSource, judgeCopy } from "../receiving/judge-webhook.ts";
import { addressOf, ingestPathOf } from "../sources/source.ts";
import type { CachedSource } from "../sources/source-cache.ts";
import type { MissedStore } from "./missed-store.ts";
import type { Reconciliation } from "./reconciliation.ts";
import type { SenderAccess, SenderHistory, WebhookCopy } from "./sender-history.ts";

/** One step of a run. */
export interface Turn {
  readonly run: Reconciliation;
  readonly known: CachedSource;
  readonly history: SenderHistory;
  readonly access: SenderAccess;
}

interface Dependencies {
  readonly judge: Judge;
  readonly deliveryWriter: Pick<DeliveryWriter, "write">;
  readonly missed: Pick<MissedStore, "fail">;
}

export type RecoverWebhook = ReturnType<typeof createRecoverWebhook>;

/**
 * Creates the operation that takes a missed webhook as if it had been pushed now. `other-bytes`: none of its bodies is
 * what the sender signed. The caller settles what is received.
 */
export function createRecoverWebhook({ judge, deliveryWriter, missed }: Dependencies) {
  return async function recoverWebhook({ known, history }: Turn, digest: Buffer, { headers, bodies }: WebhookCopy) {
    const { source } = known;
    const place = { sourceId: source.id, address: addressOf(source), method: "POST", url: ingestPathOf(source) };
    for (const body of bodies) {
      const webhook: Webhook = { ...place, headers, body };
      // A copy of a list that holds whole webhooks is not signed: the read key proves it.
      const isSigned = history.fetch !== undefined;
      const judgement = isSigned ? await judgeAgainstSource(judge, webhook, known) : judgeCopy(judge, webhook, known);
      if ("delivery" in judgement) {
        const outcome = await deliveryWriter.write({ ...judgement.delivery, origin: "reconciled" });
        if (outcome === "stale")
          throw new AppError("unavailable", "The source is being changed.", { retryAfterSeconds: 1 });
        return "received";
      }
      if (judgement.outcome !== "not-verified") {
        await missed.fail(source.id, digest, "reason" in judgement ? judgement.reason : judgement.outcome);
        return "refused";
      }
    }
    return "other-bytes";
  };
}
