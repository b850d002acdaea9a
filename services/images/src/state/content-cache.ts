import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { signatureParameter } from "@signalbox/auth";
import { KiB, MiB } from "@signalbox/core";
import type { SigningKey } from "@signalbox/storage";
import { LRUCache } from "lru-cache";
import type { Shown } from "./content-headers.ts";
import type { ContentQuery } from "./content-query.ts";
import type { Image } from "./image.ts";
import type { Transformation } from "./transformation-store.ts";

/** A signature that is valid for its request, with a key of this account. */
export interface ValidSignature {
  readonly outcome: "valid";
  readonly accountId: string;
  readonly secondsLeft: number;
  readonly key: SigningKey;
  /** Seconds since 1970. */
  readonly expiresAt: number;
}

/** The validator and the headers of content. */
export interface ContentDescription {
  readonly etag: string;
  readonly cache: string;
  readonly headers: Record<string, string>;
}

/** The answer to one URL and `Accept`, without its bytes. */
export interface CachedContent {
  readonly image: Image;
  readonly query: ContentQuery;
  /** The transformations among which that of the query was found; null without one. */
  readonly transformations: readonly Transformation[] | null;
  /** The signature by which the image is seen, if any. */
  readonly signature: ValidSignature | null;
  readonly renditionKey: string;
  readonly shown: Shown;
  readonly description: ContentDescription;
}

interface Entry {
  readonly content: CachedContent;
  /** The MAC at the end of a signed URL. */
  readonly mac: Buffer | null;
}

const entriesBytesMax = 8 * MiB;
/** Approximate size of an entry besides its key. */
const entryBytes = 2 * KiB;
/** Longest URL with its `Accept`. */
const keyLengthMax = 2 * KiB;
/** Characters of an HMAC-SHA256 in base64url. */
const macLength = 43;
const signedUrl = new RegExp(`[?&]${signatureParameter}=v1\\.[\\w-]{1,64}\\.[1-9]\\d{0,11}\\.[\\w-]{${macLength}}$`);

/** The content that was shown under a URL a moment ago. */
export class ContentCache {
  readonly #entries = new LRUCache<string, Entry>({
    maxSize: entriesBytesMax,
    sizeCalculation: (_entry, key) => entryBytes + 2 * key.length,
  });

  /** Finds what was shown for requests like this one. */
  find(request: IncomingMessage): CachedContent | null {
    const { key, mac } = keyAndMac(request);
    const entry = this.#entries.get(key);
    return entry !== undefined && hasMac(entry, mac) ? entry.content : null;
  }

  /** Remembers what is shown for requests like this one. A signed URL has to end with its signature. */
  remember(request: IncomingMessage, content: CachedContent): void {
    const { key, mac } = keyAndMac(request);
    const isWhole = (content.signature === null) === (mac === null) && key.length <= keyLengthMax;
    if (isWhole) this.#entries.set(key, { content, mac });
  }

  forget(request: IncomingMessage): void {
    this.#entries.delete(keyAndMac(request).key);
  }
}

/** Splits a URL that ends with a signature: its MAC is compared in constant time and not looked up. */
function keyAndMac({ url = "", headers }: IncomingMessage): { readonly key: string; readonly mac: Buffer | null } {
  const { accept = "" } = headers;
  if (!url.includes(`${signatureParameter}=`) || !signedUrl.test(url)) return { key: `${url}\n${accept}`, mac: null };
  return { key: `${url.slice(0, -macLength)}\n${accept}`, mac: Buffer.from(url.slice(-macLength), "latin1") };
}

function hasMac({ mac }: Entry, given: Buffer | null): boolean {
  return mac === null || given === null ? mac === given : timingSafeEqual(mac, given);
}
