import type { KnownSource } from "../sources/known-sources.ts";
import { decodeBody } from "./decode-body.ts";
import { type Judge, type Judgement, judgeWebhook, type Refused, type Webhook } from "./judge-webhook.ts";

/** What is told of a body whose coding cannot be undone. */
export const undecodedAs: Readonly<Record<"coding" | "size" | "malformed", Refused>> = {
  coding: { outcome: "coding", reason: "coding_not_supported" },
  size: { outcome: "too-large", reason: "decoded_body_too_large" },
  malformed: { outcome: "malformed", reason: "body_malformed" },
};

/** Judges a webhook as it came by a copy of its source, and by nothing else. */
export async function judgeAsIs(
  judge: Judge,
  webhook: Webhook,
  known: KnownSource,
  bytesMax: number,
): Promise<Judgement> {
  const decoding = await decodeBody(webhook.body, webhook.headers["content-encoding"], bytesMax);
  if ("problem" in decoding) return undecodedAs[decoding.problem];
  return judgeWebhook(judge, { ...webhook, decoded: decoding.body }, known);
}
