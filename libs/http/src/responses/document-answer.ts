import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { gzipSync } from "node:zlib";
import Negotiator from "negotiator";
import { bytes, type HttpResponse } from "../routes/http-response.ts";
import { strongEtag } from "./etag.ts";

/** The member of `Vary` that a route with such an answer declares. */
export const variesByCoding = ["Accept-Encoding"];

/**
 * Creates the answer of a document that rarely changes, with an ETag, and in gzip for clients that accept it. Each coding
 * has an ETag of its own (RFC 9110 §8.8.3).
 */
export function createDocumentAnswer(
  document: string | Buffer,
  contentType: string,
  headers: Readonly<Record<string, string>> = {},
): (request: IncomingHttpHeaders) => HttpResponse {
  const plain = Buffer.from(document);
  const digest = hash("sha256", plain);
  let packed: Buffer | undefined;
  return ({ "accept-encoding": accepted = "" }) => {
    if (!acceptsGzip(String(accepted)))
      return bytes(plain, contentType, { etag: strongEtag(digest, "plain"), headers });
    packed ??= gzipSync(plain);
    const coded = { ...headers, "Content-Encoding": "gzip" };
    return bytes(packed, contentType, { etag: strongEtag(digest, "gzip"), headers: coded });
  };
}

function acceptsGzip(accepted: string): boolean {
  const negotiator = new Negotiator({ headers: { "accept-encoding": accepted } });
  return negotiator.encoding(["gzip", "identity"]) === "gzip";
}
