import { LRUCache } from "lru-cache";

/** Recently shown renditions, in memory: a list of images is asked for again and again, and its thumbnails are small. */
export interface RenditionMemory {
  get(key: string): Buffer | undefined;
  add(key: string, bytes: Buffer): void;
  /** Whether a rendition of this size is kept at all. */
  takes(bytes: number): boolean;
}

/** One rendition may take this share of the memory. */
const shareMax = 1 / 32;

/** Keeps at most `bytesMax` bytes, the longest unseen go first. Keys are content-addressed, so nothing in it grows stale. */
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
