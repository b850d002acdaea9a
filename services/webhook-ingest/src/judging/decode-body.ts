import type { IncomingHttpHeaders } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw } from "node:zlib";

type Decode = (body: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

const decodeRaw: Decode = promisify(inflateRaw);
const decoders: Readonly<Record<string, Decode>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** A webhook as it arrived, with its raw bytes. */
export interface PostedWebhook {
  readonly sourceId: string;
  /** Last segment of the path that it was posted to. */
  readonly address: string;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface DecodedWebhook extends PostedWebhook {
  readonly decoding: Decoding;
}

export type Decoding =
  | { readonly body: Buffer }
  | { readonly body: Buffer; readonly problem: "coding" | "malformed" }
  | { readonly body: Buffer; readonly problem: "size" };

/** Decodes one `Content-Encoding` (RFC 9110 §8.4), up to `bytesMax`: a few bytes can hold gigabytes. */
export async function decodeBody(body: Buffer, coding: string | undefined, bytesMax: number): Promise<Decoding> {
  const name = coding?.trim().toLowerCase() ?? "identity";
  if (name === "identity" || name === "") return { body };
  const decode = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
  if (decode === undefined) return { body, problem: "coding" };
  const limit = { maxOutputLength: bytesMax };
  try {
    // Many senders leave out the zlib wrapper that the coding has.
    const decoded = decode(body, limit);
    return { body: await (name === "deflate" ? decoded.catch((error) => unwrapped(error, body, limit)) : decoded) };
  } catch (error) {
    return { body, problem: isTooLarge(error) ? "size" : "malformed" };
  }
}

const isTooLarge = (error: unknown) => (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";

function unwrapped(error: unknown, body: Buffer, limit: Parameters<Decode>[1]): Promise<Buffer> {
  if (isTooLarge(error)) throw error;
  return decodeRaw(body, limit);
}
