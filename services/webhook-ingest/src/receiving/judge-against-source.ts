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
 * Judges a webhook by the partner's published keys, if it has any. An unknown key makes them be read again, because
 * partners change keys without notice.
 */
export async function judgeByKeys(judge: Judge, webhook: DecodedWebhook, known: KnownSource): Promise<Judgement> {
  const { keySets } = judge;
  if (!known.scheme.keysAt) return judgeWebhook(judge, webhook, known);
  const judgeNow = async () => judgeWebhook(judge, webhook, await keySets.withKeys(known));
  const first = await judgeNow();
  if (!("reason" in first)) return first;
  if (first.reason === "key_unknown" && (await keySets.reread(known))) return judgeNow();
  // The webhook was not proved wrong: its sender should try again.
  const isAway = first.outcome === "not-verified" && first.reason === "secret_unusable";
  return isAway ? { outcome: "keys-away", reason: "keys_unreachable" } : first;
}
