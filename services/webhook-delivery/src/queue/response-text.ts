import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";

/** What of an answer is kept for the owner to look at, decoded. */
export const responseBytesMax = 16 * 1024;

const decoders = new Map<string, () => Transform>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
  ["zstd", createZstdDecompress],
]);

/** The beginning of an answer as text; null when it had no body. PostgreSQL stores no U+0000 in a text. */
export async function responseText(body: Buffer, encoding: string | undefined): Promise<string | null> {
  const decoder = decoders.get((encoding ?? "").trim().toLowerCase());
  const bytes = decoder === undefined ? body : await decoded(decoder(), body);
  return bytes.length === 0 ? null : bytes.subarray(0, responseBytesMax).toString("utf8").replaceAll("\0", "�");
}

/** Decodes as far as it goes: what is broken or cut off is shown up to there, and what would grow ends at the bound. */
function decoded(decoder: Transform, body: Buffer): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let length = 0;
  const end = () => {
    decoder.destroy();
    resolve(Buffer.concat(chunks));
  };
  decoder.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= responseBytesMax) end();
  });
  decoder.on("end", end).on("error", end);
  decoder.end(body);
  return promise;
}
