import type { Clock } from "@signalbox/core";
import { LRUCache } from "lru-cache";
import type { Cache } from "./cache.ts";

const numberBytes = 16;

/**
 * Creates the cache of one process: bounded in bytes, lost with the process. Counters, leases and values share the
 * bound.
 */
export function createMemoryCache({ bytesMax, clock }: { bytesMax: number; clock: Clock }): Cache {
  const values = new LruStore<Buffer>(Math.floor(bytesMax / 2), clock);
  const numbers = new LruStore<number>(Math.floor(bytesMax / 2), clock);
  let lastToken = 0;

  /** Adds to a number that expires `expiresInMs` after its first increment. */
  const add = (key: string, by: number, expiresInMs: number): { sum: number; expiresInMs: number } => {
    const before = numbers.get(key);
    const remainingMs = before === undefined ? expiresInMs : numbers.expiresInMs(key);
    const sum = (before ?? 0) + by;
    numbers.set(key, sum, { bytes: numberBytes, expiresInMs: remainingMs });
    return { sum, expiresInMs: remainingMs };
  };

  return {
    state: "up",
    // Copies in both directions: a buffer that its owner changes later must not change the cached value.
    get: async (key) => {
      const value = values.get(key);
      return value ? Buffer.from(value) : null;
    },
    async set(key, value, { expiresInMs }) {
      const copy = Buffer.from(value);
      values.set(key, copy, { bytes: copy.length, expiresInMs });
    },
    async delete(key) {
      values.delete(key);
      numbers.delete(`counter ${key}`);
    },
    increment: async (key, by, { expiresInMs }) => add(`counter ${key}`, by, expiresInMs).sum,
    async lease(key, { durationMs }) {
      const name = `lease ${key}`;
      if (numbers.get(name) !== undefined) return null;
      const token = Math.max(lastToken + 1, clock.nowMs() * 1000); // like in Redis: tokens grow over restarts
      lastToken = token;
      numbers.set(name, token, { bytes: numberBytes, expiresInMs: durationMs });
      return {
        fencingToken: token,
        release: async () => {
          if (numbers.get(name) === token) numbers.delete(name);
        },
      };
    },
    async takeShares(key, { wanted, limit, windowMs }) {
      const taken = numbers.get(`shares ${key}`) ?? 0;
      const granted = Math.max(0, Math.min(wanted, limit - taken));
      const { sum, expiresInMs } = add(`shares ${key}`, granted, windowMs);
      return { granted, remaining: Math.max(0, limit - sum), resetMs: expiresInMs };
    },
  };
}

interface Entry<V> {
  readonly value: V;
  readonly expiresAtMs: number;
}

/** Cost of an entry besides its key and value. */
const entryBytes = 100;

/**
 * A map that evicts expired entries, and the least recently used once it holds `bytesMax`. Time is the steady clock.
 */
export class LruStore<V> {
  readonly #entries: LRUCache<string, Entry<V>>;
  readonly #clock: Clock;

  constructor(bytesMax: number, clock: Clock) {
    this.#entries = new LRUCache({ maxSize: bytesMax });
    this.#clock = clock;
  }

  get(key: string): V | undefined {
    return this.#live(key)?.value;
  }

  /** Returns the milliseconds until the entry of `key` expires; 0 when there is none. */
  expiresInMs(key: string): number {
    const nowMs = this.#clock.steadyMs();
    return (this.#live(key)?.expiresAtMs ?? nowMs) - nowMs;
  }

  /** Stores a value. One that exceeds the bound alone is not stored, and the old one is removed. */
  set(key: string, value: V, { bytes, expiresInMs }: { bytes: number; expiresInMs: number }): void {
    const entry = { value, expiresAtMs: this.#clock.steadyMs() + expiresInMs };
    this.#entries.set(key, entry, { size: bytes + key.length * 2 + entryBytes });
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  #live(key: string): Entry<V> | undefined {
    const entry = this.#entries.get(key);
    if (!entry || entry.expiresAtMs > this.#clock.steadyMs()) return entry;
    this.#entries.delete(key);
    return undefined;
  }
}
