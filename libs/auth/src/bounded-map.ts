/** A map that forgets its least recently used entry when it grows beyond `max`. */
export interface BoundedMap<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
}

/** Creates a bounded map. A plain `Map` keeps insertion order, so moving an entry to its end on use is all it takes. */
export function createBoundedMap<V>(max: number): BoundedMap<V> {
  const entries = new Map<string, V>();
  return {
    get: (key) => {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set: (key, value) => {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size <= max) return;
      const oldest = entries.keys().next();
      if (!oldest.done) entries.delete(oldest.value);
    },
    delete: (key) => {
      entries.delete(key);
    },
  };
}
