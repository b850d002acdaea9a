import type { Readable } from "node:stream";
import type { Cache } from "@signalbox/cache";
import { AppError, type Clock, hours, minutes } from "@signalbox/core";
import { outputTraits, type RenderedFile, type Rendition } from "@signalbox/imaging";
import type { ObjectFiles, ObjectStore, Pool } from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";
import { LRUCache } from "lru-cache";
import { renditionPrefix } from "../blobs/blob-keys.ts";
import type { Image } from "../images/image.ts";
import type { BytePart } from "./byte-range.ts";
import type { RenditionMemory } from "./rendition-memory.ts";
import type { RenditionStore } from "./rendition-store.ts";
import { type EvictionRule, renditionsToEvict } from "./renditions-to-evict.ts";

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
  readonly memory: RenditionMemory;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly log: Logger;
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
/** Time for which other instances can read that a rendition was stored. */
const announcedMs = minutes(1);

export type StoredRenditions = ReturnType<typeof createStoredRenditions>;

/** Renditions that exist: in memory, and in the store, which holds a bounded number of them for each image. */
export function createStoredRenditions(dependencies: Dependencies) {
  const { pool, objects, objectFiles, renditionStore, memory, cache, clock } = dependencies;
  const markSeen = createMarkSeen(dependencies);
  const limit = createLimit(dependencies);

  return {
    /** Adds bytes to the memory, which may be too small for them. */
    remember: (key: string, bytes: Buffer): void => memory.add(key, bytes),

    /** Finds a rendition in memory. */
    remembered(key: string): RenditionContent | null {
      const bytes = memory.get(key);
      return bytes ? { kind: "bytes", bytes } : null;
    },

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
  const seen = new LRUCache<string, true>({ max: imagesRemembered, ttl: seenEveryMs });
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
  const made = new LRUCache<string, number>({ max: imagesRemembered });
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
