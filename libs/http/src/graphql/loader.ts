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
  const loaders = createPerRequest<Load<T>>();
  return (context, key) => loaders(context, "", () => createLoader((keys) => readMany(keys, context), keyOf))(key);
}

/** Keeps a value for each key of a request; it is released with the request's context. */
export function createPerRequest<T>() {
  const requests = new WeakMap<object, Map<string, T>>();
  return (context: object, key: string, make: () => T): T => {
    const ofRequest = requests.get(context) ?? new Map<string, T>();
    requests.set(context, ofRequest);
    const made = ofRequest.get(key);
    if (made !== undefined) return made;
    const value = make();
    ofRequest.set(key, value);
    return value;
  };
}
