import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { ContentMismatch, type PutOptions } from "./object-store.ts";

/**
 * Passes the source on and holds the last piece back until size and SHA-256 are verified. A store that knows the size
 * in advance can therefore never complete an object that does not match.
 */
export async function* verifiedContent(
  source: Readable | Uint8Array,
  { size, sha256 }: Pick<PutOptions, "size" | "sha256">,
): AsyncGenerator<Uint8Array, void> {
  const hash = sha256 === undefined ? undefined : createHash("sha256");
  let held: Uint8Array | undefined;
  let bytes = 0;
  for await (const piece of source instanceof Uint8Array ? [source] : (source as AsyncIterable<Uint8Array>)) {
    bytes += piece.length;
    if (bytes > size) throw new ContentMismatch(`the source exceeds the announced ${size} bytes`);
    hash?.update(piece);
    if (held?.length) yield held;
    held = piece;
  }
  if (bytes < size) throw new ContentMismatch(`the source ended after ${bytes} of ${size} bytes`);
  if (hash && hash.digest("hex") !== sha256?.toLowerCase())
    throw new ContentMismatch("the SHA-256 of the bytes does not match");
  if (held?.length) yield held;
}
