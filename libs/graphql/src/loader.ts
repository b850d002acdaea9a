import DataLoader from "dataloader";
import type { SubgraphContext } from "./subgraph-context.ts";

/** Looks up one thing by its key; null when there is none. Each key is looked up once in the life of the loader. */
export type Load<T> = (key: string) => Promise<T | null>;

/** The shape of all our ids; databases would fail on some other texts. */
const shape = /^[\w-]{1,64}$/;
/** Bounds one statement and its list. */
const togetherMax = 500;

/**
 * Merges concurrent look-ups of resolvers into one with many keys: a list of a hundred entities is one statement, not a
 * hundred. Created for each request, so that no caller sees another's rows.
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

/** Creates a look-up with a loader of its own for each request, so that no caller sees another's rows. */
export function requestLoader<T>(
  readMany: (keys: readonly string[], context: SubgraphContext) => Promise<readonly T[]>,
  keyOf: (item: T) => string,
): (context: SubgraphContext, key: string) => Promise<T | null> {
  const loaders = new WeakMap<object, Load<T>>();
  return (context, key) => {
    const known = loaders.get(context) ?? createLoader((keys) => readMany(keys, context), keyOf);
    loaders.set(context, known);
    return known(key);
  };
}
