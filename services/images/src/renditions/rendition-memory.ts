import { LRUCache } from "lru-cache";

/** Recently shown renditions, in memory: lists of images are requested often, and their thumbnails are small. */
export interface RenditionMemory {
  get(key: string): Buffer | undefined;
  add(key: string, bytes: Buffer): void;
  /** Returns true when a rendition of this size is kept at all. */
  takes(bytes: number): boolean;
}

/** Largest share of the memory for one rendition. */
const shareMax = 1 / 32;

/**
 * Keeps at most `bytesMax` bytes and evicts the least recently used. Keys are content-addressed, so no entry becomes
 * stale.
 */
export function createRenditionMemory({ bytesMax }: { readonly bytesMax: number }): RenditionMemory {
  const entryBytesMax = Math.floor(bytesMax * shareMax);
  if (entryBytesMax === 0) return { get: () => undefined, add() {}, takes: () => false };
  const kept = new LRUCache<string, Buffer>({
    maxSize: bytesMax,
    maxEntrySize: entryBytesMax,
    sizeCalculation: ({ length }) => Math.max(length, 1),
  });
  return {
    get: (key) => kept.get(key),
    add: (key, bytes) => void kept.set(key, bytes),
    takes: (bytes) => bytes <= entryBytesMax,
  };
}
