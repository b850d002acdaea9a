/**
 * Returns the options of an `LRUCache` of so many entries that takes their memory as they come. Its own `max` allocates
 * for all of them in advance: a megabyte for 20,000 entries, of which most services never see one.
 */
export const entryLimit = (max: number) => ({ maxSize: max, sizeCalculation: () => 1 }) as const;
