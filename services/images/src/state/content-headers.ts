import { disposition } from "@signalbox/http";
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
