import { createHash } from "node:crypto";
import type { Delivery } from "./delivery.ts";

/** By what a delivery is known again, each a digest of 16 bytes; kept as long as what was received. */
export interface DeliveryKeys {
  /** Of the delivery id: the same one with the same content is a repetition. */
  readonly id: Buffer;
  /** Of the body. */
  readonly content: Buffer;
  /**
   * Of everything that is signed, where a webhook may be renamed: whoever captured it can give it another id, and it is
   * still the same. Without a signed time it is that of the body alone, which a partner may send again.
   */
  readonly signed: Buffer | null;
}

/** The keys of a delivery under the name `deliveryId`. */
export function keysOf(
  { deliveryId, mayBeRenamed, signedSeconds, body }: Delivery,
  name = deliveryId.value,
): DeliveryKeys {
  const content = digest(body);
  const time = signedSeconds === null ? "" : String(signedSeconds);
  return { id: idKeyOf(name), content, signed: mayBeRenamed ? digest("signed", time, content) : null };
}

/** By what a delivery of this name is known again. */
export const idKeyOf = (name: string): Buffer => digest("id", name);

/** The name of a delivery that says no id: a digest of what its partner signed. */
export const digestId = (signedSeconds: number | null, body: Buffer): string =>
  createHash("sha256")
    .update(`${signedSeconds ?? ""}.`)
    .update(body)
    .digest("hex");

/** The name of a delivery whose id came before with other content: nothing that a partner sent is lost to a name. */
export const nameBesides = (name: string, { content }: DeliveryKeys): string =>
  `${name}#${content.toString("hex").slice(0, 8)}`;

function digest(...parts: (string | Uint8Array)[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) {
    hash.update(part);
    hash.update("\0");
  }
  return hash.digest().subarray(0, 16);
}
