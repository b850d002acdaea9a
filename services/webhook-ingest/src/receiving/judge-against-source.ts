import type { KnownSource } from "../sources/known-sources.ts";
import { decodeBody } from "./decode-body.ts";
import { type DecodedWebhook, type Judge, type Judgement, judgeWebhook, type Webhook } from "./judge-webhook.ts";

/** Decodes a webhook and judges it by a given copy of its source. */
export async function judgeAgainstSource(
  judge: Judge,
  webhook: Webhook,
  known: KnownSource,
  bytesMax: number,
): Promise<Judgement> {
  const decoding = await decodeBody(webhook.body, webhook.headers["content-encoding"], bytesMax);
  return judgeByKeys(judge, { ...webhook, decoding }, known);
}

/**
 * Judges a webhook by the keys that its partner publishes, where it has any. They are read again for a key that is not known:
 * partners change them without saying so.
 */
export async function judgeByKeys(judge: Judge, webhook: DecodedWebhook, known: KnownSource): Promise<Judgement> {
  const { keySets } = judge;
  if (!known.scheme.keysAt) return judgeWebhook(judge, webhook, known);
  const judgeNow = async () => judgeWebhook(judge, webhook, await keySets.inPlaceOf(known));
  const first = await judgeNow();
  if (!("reason" in first)) return first;
  if (first.reason === "key_unknown" && (await keySets.reread(known))) return judgeNow();
  // Nobody has said that the webhook is wrong: its sender should come again.
  const isAway = first.outcome === "not-verified" && first.reason === "secret_unusable";
  return isAway ? { outcome: "keys-away", reason: "keys_unreachable" } : first;
}
