import { LRUCache } from "lru-cache";

interface Limits {
  readonly max: number;
  readonly ttlMs: number;
}

/** The part of a transaction that tells of its commit. */
interface Committing {
  afterCommit(hook: () => void): void;
}

/**
 * Copies of what was read a moment ago. A change in this process removes its copies at its commit; a change in another
 * instance is seen when the copy expires.
 */
export class Copies<V> {
  readonly #read: (key: string) => Promise<V>;
  /** Caches reads, not values: a read that started before a change and ends after it is not put back. */
  readonly #reads: LRUCache<string, { readonly value: Promise<V>; read?: V }>;

  constructor(read: (key: string) => Promise<V>, { max, ttlMs }: Limits) {
    this.#read = read;
    this.#reads = new LRUCache({ max, ttl: ttlMs });
  }

  /** Returns the copy, or reads the value. Neither a failure nor null is kept. */
  find(key: string): Promise<V> {
    const known = this.#reads.get(key);
    if (known) return known.value;
    const copy: { readonly value: Promise<V>; read?: V } = { value: this.#read(key) };
    this.#reads.set(key, copy);
    const forgetThis = () => {
      if (this.#reads.peek(key) === copy) this.#reads.delete(key);
    };
    copy.value.then((value) => {
      copy.read = value;
      if (value === null || value === undefined) forgetThis();
    }, forgetThis);
    return copy.value;
  }

  /** Returns true while `find` would return this very value without reading it again. */
  holds(key: string, value: V): boolean {
    return this.#reads.get(key)?.read === value;
  }

  /** Removes the copies of what the transaction changes, after its commit. */
  forgetAfter(tx: Committing, keys: readonly string[]): void {
    tx.afterCommit(() => {
      for (const key of keys) this.#reads.delete(key);
    });
  }
}
