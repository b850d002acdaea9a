import { entryLimit, hours, seconds } from "@signalbox/core";
import { LRUCache } from "lru-cache";

/** One that is requested less often than this many others is looked at again. */
const keyLimit = entryLimit(10_000);
/** Largest share of the memory for one rendition. */
const shareMax = 1 / 32;

/** The memory of this process about renditions, by their keys. A forgotten entry costs time alone. */
export class RenditionMemory {
  /** Bytes that were shown recently: lists of images are requested often, and their thumbnails are small. */
  readonly bytes: LRUCache<string, Buffer>;
  /** Renditions that are being made, null for waiting callers when the work took too long after all. */
  readonly underWay = new SharedWork<Buffer | null>();
  /** Renditions that are stored: browsers prefer AVIF, so each of their requests checks whether it is. */
  readonly stored = new LRUCache<string, true>({ ...keyLimit, ttl: seconds(10) });
  /** Times of the last requests to the worker: saves the round trip to the database, which decides. */
  readonly requestedAtMs = new LRUCache<string, number>(keyLimit);
  /** Renditions that took too long although they were expected to be quick: the next caller does not wait in vain. */
  readonly slow = new LRUCache<string, true>({ ...keyLimit, ttl: hours(1) });
  /** Stored renditions whose last use was recorded within the hour. */
  readonly seen = new LRUCache<string, true>({ ...keyLimit, ttl: hours(1) });
  /** Numbers of new renditions by original since the last look at all of them. */
  readonly newCounts = new LRUCache<string, number>(keyLimit);

  constructor(bytesMax: number) {
    this.bytes = new LRUCache({
      maxSize: Math.max(1, bytesMax),
      maxEntrySize: Math.max(1, Math.floor(bytesMax * shareMax)),
      sizeCalculation: ({ length }) => Math.max(length, 1),
    });
  }
}

interface UnderWay<T> {
  readonly result: Promise<T>;
  readonly abandoned: AbortController;
  waiting: number;
}

/**
 * Work that several callers want at the same time: done once for all of them, and cancelled when the last of them has
 * left.
 */
export class SharedWork<T> {
  readonly #underWay = new Map<string, UnderWay<T>>();

  has(key: string): boolean {
    return this.#underWay.has(key);
  }

  /**
   * Joins the work under this key, or starts it. Rejects with the signal's reason when the caller leaves before its
   * end.
   */
  async join(key: string, work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const underWay = this.#underWay.get(key) ?? this.#begin(key, work);
    underWay.waiting++;
    const { promise: left, reject } = Promise.withResolvers<never>();
    const leave = () => {
      reject(signal?.reason);
      if (--underWay.waiting > 0) return;
      // A later caller starts again instead of joining cancelled work.
      if (this.#underWay.get(key) === underWay) this.#underWay.delete(key);
      underWay.abandoned.abort(signal?.reason);
    };
    signal?.addEventListener("abort", leave, { once: true });
    try {
      return await Promise.race([underWay.result, left]);
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }

  #begin(key: string, work: (signal: AbortSignal) => Promise<T>): UnderWay<T> {
    const abandoned = new AbortController();
    const result = work(abandoned.signal).finally(() => {
      if (this.#underWay.get(key)?.abandoned === abandoned) this.#underWay.delete(key);
    });
    result.catch(() => {});
    const underWay = { result, abandoned, waiting: 0 };
    this.#underWay.set(key, underWay);
    return underWay;
  }
}
