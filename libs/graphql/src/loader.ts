import DataLoader from "dataloader";

/** Looks up one thing by its key; null where there is none. Each key is asked for once in the life of the loader. */
export type Load<T> = (key: string) => Promise<T | null>;

/** No id of ours looks different, and the database would stumble over some. */
const shape = /^[\w-]{1,64}$/;
/** Keeps one statement, and the list in it, short. */
const togetherMax = 500;

/**
 * Joins the look-ups that resolvers make side by side into one of many keys: a list of a hundred entities is one statement,
 * not a hundred. Made anew for each request, so that nobody is shown what another may see.
 */
export function createLoader<T>(
  readMany: (keys: readonly string[]) => Promise<readonly T[]>,
  keyOf: (item: T) => string,
): Load<T> {
  const loader = new DataLoader<string, T | null>(
    async (keys) => {
      const found = new Map((await readMany(keys)).map((item) => [keyOf(item), item]));
      return keys.map((key) => found.get(key) ?? null);
    },
    { maxBatchSize: togetherMax },
  );
  return async (key) => (shape.test(key) ? loader.load(key) : null);
}
