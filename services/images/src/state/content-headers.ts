import type { IncomingHttpHeaders } from "node:http";
import { type HttpResponse, refused } from "@signalbox/http";
import { type OutputFormat, outputTraits } from "@signalbox/imaging";
import type { Image } from "./image.ts";

/** The audience of content: everyone, the owner, or holders of a signed URL. */
export type Reach = "public" | "private" | { readonly secondsLeft: number };

/** The inputs of the content headers. */
export interface Shown {
  readonly image: Image;
  readonly reach: Reach;
  readonly format: OutputFormat;
  /** True when `Accept` influenced the format. */
  readonly isNegotiated: boolean;
  /** True when the URL names the shown version, so that its content never changes. */
  readonly isVersioned: boolean;
  /** Cache lifetime in seconds of a URL without a version. */
  readonly cacheSeconds: number;
  /** A better format in the making. */
  readonly later: OutputFormat | null;
}

const immutableSeconds = 31_536_000;
const openToAllOrigins = {
  "Access-Control-Allow-Origin": "*",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "Timing-Allow-Origin": "*",
};

/** Builds the cache directives and all other headers of content, for browsers and shared caches. */
export function contentHeaders(shown: Shown): { readonly cache: string; readonly headers: Record<string, string> } {
  const { image, format, later, reach } = shown;
  const headers: Record<string, string> = {
    "Accept-Ranges": "bytes",
    "Content-Disposition": disposition("inline", inFormat(image.filename, format)),
    Vary: varied(shown),
    "Surrogate-Key": `${image.id} ${image.accountId}`,
    "Cache-Tag": `${image.id},${image.accountId}`,
  };
  if (reach !== "private") Object.assign(headers, openToAllOrigins);
  if (later) headers["Rendition-Pending"] = outputTraits[later].mimeType;
  return { cache: cacheControl(shown), headers };
}

/** Builds the cache directives of content. */
export function cacheControl({ reach, isVersioned, cacheSeconds, later }: Shown): string {
  // A stand-in for a better format must not be cached for long.
  const isForGood = isVersioned && !later;
  if (reach === "public" && isForGood) return `public, max-age=${immutableSeconds}, immutable`;
  if (typeof reach === "string") return `${reach}, max-age=${cacheSeconds}`;
  // A cache can share it: the URL contains the credential.
  return `public, max-age=${Math.min(reach.secondsLeft, isForGood ? immutableSeconds : cacheSeconds)}`;
}

/** Names only headers that influence the answer: each one multiplies the entries of a cache. */
function varied({ reach, isNegotiated }: Shown): string {
  const credentials = reach !== "private" ? [] : ["Authorization", "X-API-Key", "Origin"];
  return [...(isNegotiated ? ["Accept"] : []), ...credentials].join(", ");
}

const extensionOf = (format: OutputFormat): string => (format === "jpeg" ? "jpg" : format);

/** Adapts the file name to the format: `harbour.tiff` shown as WebP is saved as `harbour.webp`. */
function inFormat(filename: string, format: OutputFormat): string {
  const stem = filename.replace(/\.(jpe?g|png|gif|webp|avif|tiff?|hei[cf])$/i, "");
  return `${stem}.${extensionOf(format)}`;
}

/** Builds `Content-Disposition` (RFC 6266): a plain name for old clients, the real one in UTF-8. */
export function disposition(kind: "inline" | "attachment", filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(filename).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

/** The first and the last byte of a part. */
export interface BytePart {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads `Range` (RFC 9110 §14.2) for a representation of `size` bytes. Null for the whole: no range, another unit than
 * bytes, several ranges, or a range of another representation (`If-Range`).
 */
export function partOf(headers: IncomingHttpHeaders, etag: string, size: number): BytePart | "unsatisfiable" | null {
  const condition = headers["if-range"];
  if (condition !== undefined && condition !== etag) return null;
  const [, first = "", last = ""] = /^bytes=\s*(\d{0,15})\s*-\s*(\d{0,15})\s*$/i.exec(headers.range ?? "") ?? [];
  if (first === "" && last === "") return null;
  if (first === "") return Number(last) > 0 && size > 0 ? within(size - Number(last), size - 1, size) : "unsatisfiable";
  if (last !== "" && Number(last) < Number(first)) return null;
  return within(Number(first), last === "" ? size - 1 : Number(last), size);
}

function within(start: number, end: number, size: number): BytePart | "unsatisfiable" {
  return start < size ? { start: Math.max(0, start), end: Math.min(end, size - 1) } : "unsatisfiable";
}

/** Builds the header that describes the sent part. */
export function contentRange({ start, end }: BytePart, size: number): Record<string, string> {
  return { "Content-Range": `bytes ${start}-${end}/${size}` };
}

/** Builds the answer to a range beyond the content, with its size. */
export function outOfRange(size: number): HttpResponse {
  const message = `The range is beyond the ${size} bytes of the content.`;
  return refused(416, "invalid_request", { message, headers: { "Content-Range": `bytes */${size}` } });
}
