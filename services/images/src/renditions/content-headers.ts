import { type OutputFormat, outputTraits } from "@signalbox/imaging";
import type { Image } from "../images/image.ts";

/** Whom content is for: everybody, its owner, or whoever has the signed URL. */
export type Reach = "public" | "private" | { readonly secondsLeft: number };

/** What the headers of an image's content depend on. */
export interface Shown {
  readonly image: Pick<Image, "id" | "accountId" | "filename">;
  readonly reach: Reach;
  readonly format: OutputFormat;
  /** True where `Accept` had a say in the format. */
  readonly isNegotiated: boolean;
  /** The URL names the version that is shown, so that it will never show anything else. */
  readonly isVersioned: boolean;
  /** Seconds for which a client may keep it when the URL names no version. */
  readonly cacheSeconds: number;
  /** A better format is being made. */
  readonly later: OutputFormat | null;
}

const immutableSeconds = 31_536_000;

/** The cache directives and all other headers of content, for browsers and for the caches in front of us. */
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
  // What stands in for a better format is not for good.
  const isForGood = isVersioned && !later;
  if (reach === "public" && isForGood) return `public, max-age=${immutableSeconds}, immutable`;
  if (typeof reach === "string") return `${reach}, max-age=${cacheSeconds}`;
  // Whoever asks a cache for the URL shows the same credential as to us.
  return `public, max-age=${Math.min(reach.secondsLeft, isForGood ? immutableSeconds : cacheSeconds)}`;
}

/** Only what the answer depends on: each header named here multiplies what a cache has to keep. */
function varied({ reach, isNegotiated }: Shown): string {
  const credentials = reach !== "private" ? [] : ["Authorization", "X-API-Key", "Origin"];
  return [...(isNegotiated ? ["Accept"] : []), ...credentials].join(", ");
}

const extensionOf = (format: OutputFormat): string => (format === "jpeg" ? "jpg" : format);

/** `harbour.tiff` shown as WebP is saved as `harbour.webp`. */
function inFormat(filename: string, format: OutputFormat): string {
  const stem = filename.replace(/\.(jpe?g|png|gif|webp|avif|tiff?)$/i, "");
  return `${stem}.${extensionOf(format)}`;
}

/** RFC 6266: a plain name for old clients, the real one in UTF-8. */
export function disposition(kind: "inline" | "attachment", filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(filename).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
