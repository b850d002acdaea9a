import type { Readable } from "node:stream";
import type { Cache } from "@signalbox/cache";
import { AppError, type Clock, entryLimit, hours, minutes } from "@signalbox/core";
import { isOfThisEncoder, outputTraits, type RenderedFile, type Rendition, withoutEncoder } from "@signalbox/imaging";
import type { ObjectFiles, ObjectStore, Pool } from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";
import { LRUCache } from "lru-cache";
import { renditionPrefix } from "../blobs/blob-keys.ts";
import type { OnDemandRendition, RenditionStore } from "../blobs/rendition-store.ts";
import type { Image } from "../images/image.ts";
import type { BytePart } from "./content-headers.ts";

export type RenditionContent =
  | { readonly kind: "bytes"; readonly bytes: Buffer }
  /** A stream that is opened once, in whole or in part, or not at all. */
  | { readonly kind: "stored"; readonly size: number; open(part?: BytePart): Promise<Readable>; leave(): void }
  /** Missing, and too slow to make while a caller waits. */
  | { readonly kind: "later" };

/** One rendition of an image, with its key in the store. */
export interface Wanted {
  readonly key: string;
  readonly image: Image;
  readonly rendition: Rendition;
}

interface Dependencies {
  readonly pool: Pool;
  readonly objects: ObjectStore;
  readonly objectFiles: ObjectFiles;
  readonly renditionStore: RenditionStore;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly log: Logger;
  /** Memory for renditions that were shown recently; 0 keeps none. */
  readonly memoryBytesMax: number;
}

/** Largest number of stored on-demand renditions of one image. The named variants do not count. */
const countMax = 64;
/** Largest size of them together, as a multiple of the original. */
const bytesShareMax = 4;
/** Number of new renditions between two checks: fewer cannot exceed the bounds. */
const lookEvery = 8;
/** An image that is requested less often than this many others is checked again. */
const imagesRemembered = 10_000;
/** Shortest time between two updates of a rendition's last use. */
const seenEveryMs = hours(1);
/** Largest share of the memory for one rendition. */
const shareMax = 1 / 32;
/** Time for which other instances can read that a rendition was stored. */
const announcedMs = minutes(1);

export type StoredRenditions = ReturnType<typeof createStoredRenditions>;

/** Renditions that exist: in memory, and in the store, which holds a bounded number of them for each image. */
export function createStoredRenditions(dependencies: Dependencies) {
  const { pool, objects, objectFiles, renditionStore, cache, clock } = dependencies;
  const memory = createRenditionMemory(dependencies.memoryBytesMax);
  const markSeen = createMarkSeen(dependencies);
  const limit = createLimit(dependencies);

  return {
    /** Adds bytes to the memory, which may be too small for them. */
    remember: (key: string, bytes: Buffer): void => memory.add(key, bytes),

    /** Finds the bytes of a rendition in memory. */
    remembered: (key: string): Buffer | null => memory.get(key) ?? null,

    /** Finds a rendition in the store, and records its use. */
    async find(key: string): Promise<RenditionContent | null> {
      const stored = await objects.get(key);
      if (!stored) return null;
      markSeen(key);
      const { stream, size } = stored;
      if (!memory.takes(size)) {
        const open = async (part?: BytePart) => (part ? openPart(objects, key, stream, part) : stream);
        return { kind: "stored", size, open, leave: () => stream.destroy() };
      }
      const bytes = await bytesOf(stream);
      memory.add(key, bytes);
      return { kind: "bytes", bytes };
    },

    /** Reads a rendition that another instance has just stored. */
    async read(key: string): Promise<Buffer | null> {
      const stored = await objects.get(key);
      return stored ? bytesOf(stored.stream) : null;
    },

    /** Returns true when an instance has just stored the rendition. */
    isAnnounced: async (key: string): Promise<boolean> => Boolean(await cache.get(`made:${key}`)),

    /** Stores a new rendition from a file and announces it. */
    async keep({ key, image, rendition }: Wanted, file: RenderedFile, path: string): Promise<void> {
      const { mimeType } = outputTraits[rendition.format];
      const { width, height, sizeBytes } = file;
      await objectFiles.put(key, path, { size: sizeBytes, contentType: mimeType, isExpendable: true });
      const stored = { name: null, key, mime_type: mimeType, width, height, size_bytes: sizeBytes };
      const isKept = await renditionStore.save(pool, image, stored, clock.now());
      // The image was deleted and its bytes erased during the rendering.
      if (!isKept) return objects.delete(key);
      await cache.set(`made:${key}`, "1", { expiresInMs: announcedMs });
      await limit(image);
    },
  };
}

/** Creates the function that records a use of a stored rendition, in the background. */
function createMarkSeen({ renditionStore, clock, log }: Dependencies) {
  const seen = new LRUCache<string, true>({ ...entryLimit(imagesRemembered), ttl: seenEveryMs });
  return (key: string): void => {
    if (seen.has(key)) return;
    seen.set(key, true);
    void renditionStore
      .markSeen(key, clock.now())
      .catch((error: unknown) => log.warn({ error, key }, "a rendition was not marked as seen"));
  };
}

/**
 * Creates the function that counts a new rendition of an image, and removes the least recently used ones when there may
 * be too many: a client that requests a hundred qualities must not fill the disk.
 */
function createLimit({ renditionStore, objects }: Dependencies) {
  const made = new LRUCache<string, number>(entryLimit(imagesRemembered));
  return async (image: Pick<Image, "accountId" | "sha256" | "sizeBytes">): Promise<void> => {
    const prefix = renditionPrefix(image);
    const count = (made.get(prefix) ?? lookEvery - 1) + 1;
    made.set(prefix, count % lookEvery);
    if (count < lookEvery) return;
    const rule: EvictionRule = { countMax: countMax - lookEvery, bytesMax: bytesShareMax * image.sizeBytes };
    const keys = renditionsToEvict(await renditionStore.listOnDemand(image), rule);
    // The row first: a rendition without a row is swept with its original, but a row without bytes would count as
    // stored.
    await renditionStore.removeMany(keys);
    for (const key of keys) await objects.delete(key);
  };
}

async function openPart(objects: ObjectStore, key: string, whole: Readable, part: BytePart): Promise<Readable> {
  whole.destroy();
  const stored = await objects.get(key, { range: part });
  if (!stored) throw new AppError("unavailable", "The bytes are missing.", { retryAfterSeconds: 1 });
  return stored.stream;
}

/** Reads the stream with one copy of the bytes; `buffer` of node:stream/consumers makes three. */
async function bytesOf(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/**
 * Creates a memory of at most `bytesMax` bytes, which evicts the least recently used: lists of images are requested
 * often, and their thumbnails are small. Keys are content-addressed, so no entry becomes stale.
 */
export function createRenditionMemory(bytesMax: number) {
  const entryBytesMax = Math.floor(bytesMax * shareMax);
  if (entryBytesMax === 0) return { get: () => undefined, add: () => {}, takes: () => false };
  const kept = new LRUCache<string, Buffer>({
    maxSize: bytesMax,
    maxEntrySize: entryBytesMax,
    sizeCalculation: ({ length }) => Math.max(length, 1),
  });
  return {
    get: (key: string) => kept.get(key),
    add: (key: string, bytes: Buffer) => void kept.set(key, bytes),
    /** Returns true when a rendition of this size is kept at all. */
    takes: (bytes: number) => bytes <= entryBytesMax,
  };
}

interface EvictionRule {
  readonly countMax: number;
  readonly bytesMax: number;
}

/**
 * Chooses renditions to evict: those of an older encoder that a newer one has replaced, then the least recently used
 * beyond the bounds.
 */
export function renditionsToEvict(
  stored: readonly OnDemandRendition[],
  { countMax, bytesMax }: EvictionRule,
): string[] {
  const current = new Set(stored.filter(({ key }) => isOfThisEncoder(key)).map(({ key }) => withoutEncoder(key)));
  const isReplaced = ({ key }: OnDemandRendition) => !isOfThisEncoder(key) && current.has(withoutEncoder(key));
  const kept = stored
    .filter((one) => !isReplaced(one))
    .sort((a, b) => b.seenAt.getTime() - a.seenAt.getTime() || (a.key < b.key ? -1 : 1));
  let [count, bytes] = [0, 0];
  const gone = kept.filter(({ sizeBytes }) => {
    if (count >= countMax || bytes + sizeBytes > bytesMax) return true;
    count++;
    bytes += sizeBytes;
    return false;
  });
  return [...stored.filter(isReplaced), ...gone].map(({ key }) => key);
}
