import type { Clock } from "@signalbox/core";

interface Entry<V> {
  readonly value: V;
  readonly bytes: number;
  readonly expiresAtMs: number;
}

export interface LruStore<V> {
  get(key: string): V | undefined;
  /** Milliseconds until the entry of `key` expires; 0 when there is none. */
  expiresInMs(key: string): number;
  set(key: string, value: V, options: { bytes: number; expiresInMs: number }): void;
  delete(key: string): void;
}

/** What an entry costs beside its key and value. */
const entryBytes = 100;

/** A map that forgets: what has expired, and the least recently used once it holds `bytesMax`. Time is the steady clock. */
export function createLruStore<V>(bytesMax: number, clock: Pick<Clock, "steadyMs">): LruStore<V> {
  const entries = new Map<string, Entry<V>>(); // in the order of use: a Map iterates in the order of insertion
  let bytesHeld = 0;

  const remove = (key: string) => {
    bytesHeld -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  };
  const live = (key: string): Entry<V> | undefined => {
    const entry = entries.get(key);
    if (entry && entry.expiresAtMs <= clock.steadyMs()) {
      remove(key);
      return undefined;
    }
    return entry;
  };

  return {
    get(key) {
      const entry = live(key);
      if (!entry) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    expiresInMs: (key) => (live(key)?.expiresAtMs ?? clock.steadyMs()) - clock.steadyMs(),
    set(key, value, { bytes, expiresInMs }) {
      remove(key);
      const size = bytes + key.length * 2 + entryBytes;
      if (size > bytesMax) return;
      entries.set(key, { value, bytes: size, expiresAtMs: clock.steadyMs() + expiresInMs });
      bytesHeld += size;
      for (const oldest of entries.keys()) {
        if (bytesHeld <= bytesMax) break;
        remove(oldest);
      }
    },
    delete: remove,
  };
}
