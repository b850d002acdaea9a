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
  // A Map remembers the order of insertion: what is seen is taken out and put at the end.
  const kept = new Map<string, Buffer>();
  let bytes = 0;

  const takes = (size: number) => size <= bytesMax * shareMax;

  return {
    takes,
    get(key) {
      const found = kept.get(key);
      if (!found) return undefined;
      kept.delete(key);
      kept.set(key, found);
      return found;
    },
    add(key, added) {
      if (kept.has(key) || !takes(added.length)) return;
      kept.set(key, added);
      bytes += added.length;
      for (const [oldest, old] of kept) {
        if (bytes <= bytesMax) return;
        kept.delete(oldest);
        bytes -= old.length;
      }
    },
  };
}
