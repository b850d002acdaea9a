import { createHash } from "node:crypto";
import type { ReceivedWebhook } from "./received-webhook.ts";

/** Keys by which a repetition is found, each a digest of 16 bytes; kept as long as received webhooks. */
export interface DedupeKeys {
  readonly id: Buffer;
  /** Key of the body and of a type that no signature covers; empty where any body under the same id is a repetition. */
  readonly content: Buffer;
  /**
   * Key of the signed content, where no signature covers an id: a captured webhook with another id is still a
   * repetition. Without a signed time it covers the body and the type, which a partner may send again after a while.
   */
  readonly signed: Buffer | null;
}

export function dedupeKeysOf(webhook: ReceivedWebhook, name = webhook.deliveryId.value): DedupeKeys {
  const { eventType, isIdForgeable, isCopy, signedSeconds, body, signedText } = webhook;
  const content = isCopy ? Buffer.alloc(0) : digest(body);
  // Several topics may share one body. With a signed time the type is no part of it: one signature is one webhook.
  const topic = eventType === null || eventType.signed || isCopy ? [] : [eventType.value];
  const [time, ofTime] = signedSeconds === null ? ["", topic] : [String(signedSeconds), []];
  const signed = signedText === null ? content : digest(signedText);
  return {
    id: idKeyOf(name),
    content: topic.length === 0 ? content : digest(body, ...topic),
    signed: isIdForgeable ? digest("signed", time, signed, ...ofTime) : null,
  };
}

export const idKeyOf = (name: string): Buffer => digest("id", name);

/** Returns true for the content of an earlier webhook that is the same; earlier versions kept the digest of the body. */
export const isSameContent = (earlier: Uint8Array, { content }: DedupeKeys, { body }: ReceivedWebhook): boolean =>
  earlier.length === 0 || content.equals(earlier) || digest(body).equals(earlier);

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
