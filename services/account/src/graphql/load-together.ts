/** Looks up one thing by its key; null where there is none. Each key is asked for once in the life of the loader. */
export type Load<T> = (key: string) => Promise<T | null>;

/** No id of ours looks different, and the database would stumble over some. */
const shape = /^[\w-]{1,64}$/;
/** Keeps one statement, and the list in it, short. */
const togetherMax = 500;

/**
 * Joins the look-ups that resolvers make side by side into one of many keys. A list of a hundred entities is one statement,
 * not a hundred. Made anew for each request, so that nobody is shown what another may see.
 */
export function loadTogether<T>(
  readMany: (keys: readonly string[]) => Promise<readonly T[]>,
  keyOf: (item: T) => string,
): Load<T> {
  const found = new Map<string, Promise<T | null>>();
  let waiting: { keys: string[]; items: Promise<Map<string, T>> } | null = null;

  return (key) => {
    if (!shape.test(key)) return Promise.resolve(null);
    const known = found.get(key);
    if (known) return known;
    if (waiting === null || waiting.keys.length >= togetherMax) waiting = nextBatch();
    waiting.keys.push(key);
    const item = waiting.items.then((items) => items.get(key) ?? null);
    found.set(key, item);
    return item;
  };

  /** Resolvers of one level run before the next turn of the event loop; what they ask for until then goes together. */
  function nextBatch() {
    const keys: string[] = [];
    const items = new Promise<void>((resolve) => setImmediate(resolve)).then(async () => {
      waiting = null;
      return new Map((await readMany(keys)).map((item) => [keyOf(item), item]));
    });
    return { keys, items };
  }
}
