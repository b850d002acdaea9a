import { LRUCache } from "lru-cache";

/** Longer texts are checked each time: what is remembered stays within `entriesMax` times this, whoever sends what. */
const rememberedLengthMax = 32 * 1024;

/**
 * Remembers what `check` found for a document text, the least recently used ones forgotten first. What was found under
 * other limits is forgotten at once, because limits change while the process runs.
 */
export function rememberChecked<Limits extends object, Found extends object | string>(
  entriesMax: number,
  limits: () => Limits,
  check: (query: string, limits: Limits) => Found,
): (query: string) => Found {
  const remembered = new LRUCache<string, Found>({ max: entriesMax });
  let foundUnder = "";
  return (query) => {
    const current = limits();
    if (query.length > rememberedLengthMax) return check(query, current);
    const under = Object.values(current).join();
    if (under !== foundUnder) remembered.clear();
    foundUnder = under;
    const known = remembered.get(query);
    if (known !== undefined) return known;
    const found = check(query, current);
    remembered.set(query, found);
    return found;
  };
}
