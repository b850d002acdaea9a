import { AppError } from "@signalbox/core";
import type { DeliveryWriter } from "../receiving/delivery-writer.ts";
import { type Judge, type Judgement, judgeAgainstSource, judgeCopy, type Webhook } from "../receiving/judge-webhook.ts";
import type { KnownSource } from "../sources/known-sources.ts";
import { addressOf, ingestPathOf } from "../sources/source.ts";
import type { MissedStore } from "./missed-store.ts";
import type { Reconciliation } from "./reconciliation.ts";
import type { SenderAccess, SenderHistory, WebhookCopy } from "./sender-history.ts";

/** One step of a run. */
export interface Turn {
  readonly run: Reconciliation;
  readonly known: KnownSource;
  readonly history: SenderHistory;
  readonly access: SenderAccess;
}

interface Dependencies {
  readonly judge: Judge;
  readonly deliveryWriter: Pick<DeliveryWriter, "write">;
  readonly missed: MissedStore;
}

export type RecoverWebhook = ReturnType<typeof createRecoverWebhook>;

/**
 * Creates the operation that takes a missed webhook as if it had been pushed now. It returns false when none of its
 * bodies is what the sender signed.
 */
export function createRecoverWebhook({ judge, deliveryWriter, missed }: Dependencies) {
  /** A copy of a list that holds whole webhooks is not signed: the read key proves it. */
  const judged = async ({ known, history }: Turn, webhook: Webhook): Promise<Judgement> =>
    history.fetch ? judgeAgainstSource(judge, webhook, known) : judgeCopy(judge, webhook, known);

  return async function recoverWebhook(turn: Turn, digest: Buffer, { headers, bodies }: WebhookCopy): Promise<boolean> {
    const { run, access } = turn;
    const { source } = turn.known;
    const place = { sourceId: source.id, address: addressOf(source), method: "POST", url: ingestPathOf(source) };
    for (const body of bodies) {
      const judgement = await judged(turn, { ...place, headers, body });
      if ("delivery" in judgement) {
        const outcome = await deliveryWriter.write({ ...judgement.delivery, origin: "reconciled" });
        if (outcome === "stale")
          throw new AppError("unavailable", "The source is being changed.", { retryAfterSeconds: 1 });
        await missed.settle(run, access.sender, [digest]);
        return true;
      }
      if (judgement.outcome !== "not-verified") {
        await missed.fail(source.id, digest, "reason" in judgement ? judgement.reason : judgement.outcome);
        return true;
      }
    }
    return false;
  };
}
