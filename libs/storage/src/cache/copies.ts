import { isDeepStrictEqual } from "node:util";
import { entryLimit } from "@signalbox/core";
import { LRUCache } from "lru-cache";

interface Limits {
  readonly max: number;
  readonly ttlMs: number;
  /** Age at which a copy that is asked for by `holds` is read again. Default: three quarters of `ttlMs`. */
  readonly refreshMs?: number;
}

/** The part of a transaction that tells of its commit. */
interface Committing {
  afterCommit(hook: () => void): void;
}

interface Copy<V> {
  readonly value: Promise<V>;
  /** The value, once it was read. */
  read?: V;
  isRefreshing?: true;
}

/**
 * Copies of what was read a moment ago. A change in this process removes its copies at its commit; a change in another
 * instance is seen when the copy expires.
 */
export class Copies<V> {
  readonly #read: (key: string) => Promise<V>;
  /** Caches reads, not values: a read that started before a change and ends after it is not put back. */
  readonly #reads: LRUCache<string, Copy<V>>;
  readonly #ttlMs: number;
  readonly #refreshMs: number;

  constructor(read: (key: string) => Promise<V>, { max, ttlMs, refreshMs = 0.75 * ttlMs }: Limits) {
    this.#read = read;
    this.#reads = new LRUCache({ ...entryLimit(max), ttl: ttlMs });
    this.#ttlMs = ttlMs;
    this.#refreshMs = refreshMs;
  }

  /** Returns the copy, or reads the value. Neither a failure nor null is kept. */
  find(key: string): Promise<V> {
    const known = this.#reads.get(key);
    if (known) return known.value;
    const copy: Copy<V> = { value: this.#read(key) };
    this.#reads.set(key, copy);
    this.#settle(key, copy);
    return copy.value;
  }

  /**
   * Returns true while `find` would return this very value without reading it again. A copy that is asked for often is
   * read again before it expires, and stays the same value when nothing has changed.
   */
  holds(key: string, value: V): boolean {
    const copy = this.#reads.get(key);
    if (copy?.read !== value) return false;
    if (!copy.isRefreshing && this.#ageMs(key) >= this.#refreshMs) this.#refresh(key, copy);
    return true;
  }

  /** Removes the copies of what the transaction changes, after its commit. */
  forgetAfter(tx: Committing, keys: readonly string[]): void {
    tx.afterCommit(() => {
      for (const key of keys) this.#reads.delete(key);
    });
  }

  #settle(key: string, copy: Copy<V>): void {
    const forgetThis = () => {
      if (this.#reads.peek(key) === copy) this.#reads.delete(key);
    };
    copy.value.then((value) => {
      copy.read = value;
      if (value === null || value === undefined) forgetThis();
    }, forgetThis);
  }

  #ageMs(key: string): number {
    // The cache rounds its clock: a new copy may seem to be younger than it is.
    return Math.max(0, this.#ttlMs - this.#reads.getRemainingTTL(key));
  }

  /** Replaces a copy by a newer one, unless a change or its expiry removed it meanwhile. */
  #refresh(key: string, copy: Copy<V>): void {
    copy.isRefreshing = true;
    const ageMs = this.#ageMs(key);
    const newer = this.#read(key).then((value) => (isDeepStrictEqual(value, copy.read) ? (copy.read as V) : value));
    const replace = (value: V) => {
      if (this.#reads.peek(key) !== copy) return;
      // Its age counts from the start of the read, as that of every copy.
      const ttl = Math.max(1, this.#ttlMs - (this.#ageMs(key) - ageMs));
      if (value === null || value === undefined) this.#reads.delete(key);
      else this.#reads.set(key, { value: newer, read: value }, { ttl });
    };
    // After a failure the copy ends at its usual time.
    newer.then(replace, () => {});
  }
}
