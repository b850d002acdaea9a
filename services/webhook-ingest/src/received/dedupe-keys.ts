import { createHash } from "node:crypto";
import type { ReceivedWebhook } from "./received-webhook.ts";

/** Keys by which a repetition is found, each a digest of 16 bytes; kept as long as received webhooks. */
export interface DedupeKeys {
  /** Key of the delivery id: the same id with the same content is a repetition. */
  readonly id: Buffer;
  /** Key of the body; empty where any body under the same id is a repetition. */
  readonly content: Buffer;
  /**
   * Key of the signed content, where no signature covers the id: a captured webhook with another id is still a
   * repetition. Without a signed time it covers the body alone, which a partner may send again after a while.
   */
  readonly signed: Buffer | null;
}

/** Computes the keys of a webhook under the delivery id `name`. */
export function dedupeKeysOf(
  { deliveryId, isIdForgeable, isCopy, signedSeconds, body, signedText }: ReceivedWebhook,
  name = deliveryId.value,
): DedupeKeys {
  const content = isCopy ? Buffer.alloc(0) : digest(body);
  const time = signedSeconds === null ? "" : String(signedSeconds);
  const signed = signedText === null ? content : digest(signedText);
  return { id: idKeyOf(name), content, signed: isIdForgeable ? digest("signed", time, signed) : null };
}

/** Computes the key of a delivery id. */
export const idKeyOf = (name: string): Buffer => digest("id", name);

/** Computes a delivery id for a webhook without one: a digest of its signed content. */
export const digestId = (signedSeconds: number | null, body: Buffer): string =>
  createHash("sha256")
    .update(`${signedSeconds ?? ""}.`)
    .update(body)
    .digest("hex");

/** Returns another id for a webhook whose delivery id was used for other content, so that both are kept. */
export const alternativeId = (name: string, { content }: DedupeKeys): string =>
  `${name}#${content.toString("hex").slice(0, 8)}`;

function digest(...parts: (string | Uint8Array)[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) {
    hash.update(part);
    hash.update("\0");
  }
  return hash.digest().subarray(0, 16);
}
