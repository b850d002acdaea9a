import type { IncomingHttpHeaders } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";

const decoders = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
} as const;

/** A webhook as it arrived, with its raw bytes. */
export interface PostedWebhook {
  readonly sourceId: string;
  /** Last segment of the path that it was posted to. */
  readonly address: string;
  readonly method: string;
  /** Full URL that it was posted to. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A webhook with the result of decoding its `Content-Encoding`. */
export interface DecodedWebhook extends PostedWebhook {
  readonly decoding: Decoding;
}

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
