import { entryLimit, hours, seconds } from "@signalbox/core";
import { LRUCache } from "lru-cache";
import { SharedWork } from "./shared-work.ts";

/** An image that is requested less often than this many others is looked at again. */
const remembered = entryLimit(10_000);
/** Largest share of the memory for one rendition. */
const shareMax = 1 / 32;

/** What this process remembers of renditions by their keys. Whatever is forgotten costs time alone. */
export class RenditionMemory {
  /** Bytes that were shown recently. */
  readonly bytes: RenditionBytes;
  /** Renditions that are being made, null for waiting callers when the work took too long after all. */
  readonly underWay = new SharedWork<Buffer | null>();
  /** Renditions that are stored: browsers prefer AVIF, so each of their requests checks whether it is. */
  readonly stored = new LRUCache<string, true>({ ...remembered, ttl: seconds(10) });
  /** Times of the last requests to the worker: saves the round trip to the database, which decides. */
  readonly requestedAtMs = new LRUCache<string, number>(remembered);
  /** Renditions that took too long although they were expected to be quick: the next caller does not wait in vain. */
  readonly slow = new LRUCache<string, true>({ ...remembered, ttl: hours(1) });
  /** Stored renditions whose last use was recorded within the hour. */
  readonly seen = new LRUCache<string, true>({ ...remembered, ttl: hours(1) });
  /** Numbers of new renditions by original since the last look at all of them. */
  readonly newOnes = new LRUCache<string, number>(remembered);

  constructor(bytesMax: number) {
    this.bytes = new RenditionBytes(bytesMax);
  }
}

/**
 * A memory of at most `bytesMax` bytes, which evicts the least recently used: lists of images are requested often, and
 * their thumbnails are small. Keys are content-addressed, so no entry becomes stale.
 */
export class RenditionBytes {
  readonly #entryBytesMax: number;
  /** Null when there is no room for any. */
  readonly #kept: LRUCache<string, Buffer> | null;

  constructor(bytesMax: number) {
    this.#entryBytesMax = Math.floor(bytesMax * shareMax);
    this.#kept =
      this.#entryBytesMax === 0
        ? null
        : new LRUCache({
            maxSize: bytesMax,
            maxEntrySize: this.#entryBytesMax,
            sizeCalculation: ({ length }) => Math.max(length, 1),
          });
  }

  get(key: string): Buffer | null {
    return this.#kept?.get(key) ?? null;
  }

  add(key: string, bytes: Buffer): void {
    this.#kept?.set(key, bytes);
  }

  /** Returns true when a rendition of this size is kept at all. */
  takes(bytes: number): boolean {
    return this.#kept !== null && bytes <= this.#entryBytesMax;
  }
}
