import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";

const decoders = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
} as const;

export type Decoding = { readonly body: Buffer } | { readonly problem: "coding" | "size" | "malformed" };

/**
 * Decodes the `Content-Encoding` of a body (RFC 9110 §8.4): one coding, and at most `bytesMax` of output, because a few
 * bytes can hold gigabytes.
 */
export async function decodeBody(body: Buffer, coding: string | undefined, bytesMax: number): Promise<Decoding> {
  const name = coding?.trim().toLowerCase() ?? "identity";
  if (name === "identity" || name === "") return { body };
  if (!Object.hasOwn(decoders, name)) return { problem: "coding" };
  try {
    return { body: await decoders[name as keyof typeof decoders](body, { maxOutputLength: bytesMax }) };
  } catch (error) {
    return { problem: (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE" ? "size" : "malformed" };
  }
}
