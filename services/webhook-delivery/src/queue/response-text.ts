import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";

/** Bytes of a response that are kept for the owner, decoded. */
export const responseBytesMax = 16 * 1024;

const decoders = new Map<string, () => Transform>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
  ["zstd", createZstdDecompress],
]);

/** Returns the beginning of a response as text; null without a body. PostgreSQL cannot store U+0000 in a text. */
export async function responseText(body: Buffer, encoding: string | undefined): Promise<string | null> {
  const decoder = decoders.get((encoding ?? "").trim().toLowerCase());
  const bytes = decoder === undefined ? body : await decoded(decoder(), body);
  return bytes.length === 0 ? null : bytes.subarray(0, responseBytesMax).toString("utf8").replaceAll("\0", "�");
}

/** Decodes as far as possible: a broken or truncated body is shown up to the fault, and a bomb ends at the bound. */
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
