import type { Clock } from "@signalbox/core";
import { LRUCache } from "lru-cache";

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
