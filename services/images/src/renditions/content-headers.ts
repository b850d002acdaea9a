import { type OutputFormat, outputTraits } from "@signalbox/imaging";
import type { Image } from "../images/image.ts";

/** The audience of content: everyone, the owner, or holders of a signed URL. */
export type Reach = "public" | "private" | { readonly secondsLeft: number };

/** The inputs of the content headers. */
export interface Shown {
  readonly image: Pick<Image, "id" | "accountId" | "filename">;
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

/** Builds the cache directives and all other headers of content, for browsers and shared caches. */
export function contentHeaders(shown: Shown): { readonly cache: string; readonly headers: Record<string, string> } {
  const { image, format, later, reach } = shown;
  return {
    cache: cacheControl(shown),
    headers: {
      "Accept-Ranges": "bytes",
      "Content-Disposition": disposition("inline", inFormat(image.filename, format)),
      Vary: varied(shown),
      "Surrogate-Key": `${image.id} ${image.accountId}`,
      "Cache-Tag": `${image.id},${image.accountId}`,
      ...(reach !== "private" && {
        "Access-Control-Allow-Origin": "*",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Timing-Allow-Origin": "*",
      }),
      ...(later && { "Rendition-Pending": outputTraits[later].mimeType }),
    },
  };
}

function cacheControl({ reach, isVersioned, cacheSeconds, later }: Shown): string {
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
  const stem = filename.replace(/\.(jpe?g|png|gif|webp|avif|tiff?)$/i, "");
  return `${stem}.${extensionOf(format)}`;
}

/** Builds `Content-Disposition` (RFC 6266): a plain name for old clients, the real one in UTF-8. */
export function disposition(kind: "inline" | "attachment", filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(filename).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
