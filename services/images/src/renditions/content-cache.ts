import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { KiB, MiB } from "@signalbox/core";
import { bytes, isNotModified, type KnownAnswer, type KnownAnswers, notModified } from "@signalbox/http";
import { outputTraits, type Rendition, renditionTag } from "@signalbox/imaging";
import { LRUCache } from "lru-cache";
import { keyOf } from "../blobs/blob-keys.ts";
import { type Image, versionOf } from "../images/image.ts";
import type { ImageStore } from "../images/image-store.ts";
import { signatureParameter } from "../signing/signature.ts";
import type { SignedUrls } from "../signing/signed-urls.ts";
import type { ServedCounter } from "../statistics/served-counter.ts";
import type { ContentAccess, Viewer } from "./content-access.ts";
import { cacheControl, contentHeaders, type Shown } from "./content-headers.ts";
import type { ContentQuery } from "./content-query.ts";
import type { StoredRenditions } from "./stored-renditions.ts";

interface Dependencies {
  readonly imageStore: Pick<ImageStore, "isCurrent">;
  readonly contentAccess: Pick<ContentAccess, "stillShows">;
  readonly signedUrls: Pick<SignedUrls, "secondsLeft">;
  readonly storedRenditions: Pick<StoredRenditions, "remembered">;
  readonly statistics: Pick<ServedCounter, "counted">;
  /** Cache lifetime of a URL without a version. */
  readonly cacheSeconds: (visibility: Image["visibility"]) => number;
}

/** A rendition that was chosen for a request, with everything that decided about it. */
interface ChosenContent {
  readonly image: Image;
  readonly viewer: Viewer;
  readonly query: ContentQuery;
  readonly rendition: Rendition;
  /** A better format in the making. */
  readonly later: Rendition | null;
}

/** The answer to one URL and `Accept`, without its bytes. */
interface Entry extends Pick<ChosenContent, "image" | "query">, Pick<Viewer, "signature"> {
  readonly renditionKey: string;
  readonly shown: Shown;
  readonly about: About;
  /** The MAC at the end of a signed URL. */
  readonly mac: Buffer | null;
}

interface About {
  readonly etag: string;
  readonly cache: string;
  readonly headers: Record<string, string>;
}

const entriesBytesMax = 8 * MiB;
/** Approximate size of an entry besides its key. */
const entryBytes = 2 * KiB;
/** Longest URL with its `Accept`. */
const keyLengthMax = 2 * KiB;
/** Characters of an HMAC-SHA256 in base64url. */
const macLength = 43;
const signedUrl = new RegExp(`[?&]${signatureParameter}=v1\\.[\\w-]{1,64}\\.[1-9]\\d{0,11}\\.[\\w-]{${macLength}}$`);

export type ContentCache = ReturnType<typeof createContentCache>;

/**
 * Creates the memory of what was shown under a URL, from which most requests of a page are answered. An entry holds as
 * long as the copy of its record, so that a change is seen as soon as without it: at once in this process, within a
 * second in others. What the caller decides, the end of a signature and the state of the owner are judged each time.
 */
export function createContentCache(dependencies: Dependencies) {
  const { imageStore, storedRenditions, cacheSeconds } = dependencies;
  const entries = new LRUCache<string, Entry>({
    maxSize: entriesBytesMax,
    sizeCalculation: (_entry, key) => entryBytes + 2 * key.length,
  });

  function find({ url = "", method, headers }: IncomingMessage): KnownAnswer | null {
    if (!url.startsWith("/images/")) return null;
    const { key, mac } = keyAndMac(url, headers.accept);
    const entry = entries.get(key);
    if (entry === undefined || !hasMac(entry, mac)) return null;
    if (!imageStore.isCurrent(entry.image)) {
      entries.delete(key);
      return null;
    }
    const isUnchanged = isNotModified({ headers }, entry.about.etag);
    const content = isUnchanged ? null : storedRenditions.remembered(entry.renditionKey);
    return content || isUnchanged ? answerOf(dependencies, entry, method, content) : null;
  }

  return {
    answers: { find } satisfies KnownAnswers,

    /** Builds the validator and the headers of content, and remembers them for requests like this one. */
    describe(chosen: ChosenContent, { url = "", headers }: IncomingMessage): About {
      const { image, viewer, query, rendition, later } = chosen;
      const { signature } = viewer;
      const shown = shownOf(chosen, cacheSeconds(image.visibility));
      const renditionKey = keyOf(image, rendition);
      const about = { etag: renditionTag(renditionKey), ...contentHeaders(shown) };
      const { key, mac } = keyAndMac(url, headers.accept);
      const isWhole = (signature === null) === (mac === null) && key.length <= keyLengthMax;
      // Where a better format is in the making, the next request may get it.
      if (isWhole && !later) entries.set(key, { image, query, signature, renditionKey, shown, about, mac });
      return about;
    },
  };
}

function shownOf({ image, viewer, query, rendition, later }: ChosenContent, cacheSeconds: number): Shown {
  return {
    image,
    reach: viewer.reach,
    format: rendition.format,
    isNegotiated: query.format === "auto",
    later: later?.format ?? null,
    isVersioned: query.v !== undefined && query.v === versionOf(image),
    cacheSeconds,
  };
}

function answerOf(
  { contentAccess, signedUrls, statistics }: Dependencies,
  entry: Entry,
  method: string | undefined,
  content: Buffer | null,
): KnownAnswer {
  const { image, signature, shown } = entry;
  const { format } = shown;
  return {
    isFor: (principal) => contentAccess.stillShows(entry, principal),
    answer() {
      const secondsLeft = signature === null ? null : signedUrls.secondsLeft(signature);
      const about =
        secondsLeft === null
          ? entry.about
          : { ...entry.about, cache: cacheControl({ ...shown, reach: { secondsLeft } }) };
      const answer = content ? bytes(content, outputTraits[format].mimeType, about) : notModified(about.etag, about);
      return statistics.counted(image.accountId, format, method, answer);
    },
  };
}

/** Splits a URL that ends with a signature: its MAC is compared in constant time and not looked up. */
function keyAndMac(url: string, accept = ""): { readonly key: string; readonly mac: Buffer | null } {
  if (!url.includes(`${signatureParameter}=`) || !signedUrl.test(url)) return { key: `${url}\n${accept}`, mac: null };
  return { key: `${url.slice(0, -macLength)}\n${accept}`, mac: Buffer.from(url.slice(-macLength), "latin1") };
}

function hasMac({ mac }: Entry, given: Buffer | null): boolean {
  return mac === null || given === null ? mac === given : timingSafeEqual(mac, given);
}
