/** Longer texts are checked each time: what is remembered stays within `entriesMax` times this, whoever sends what. */
const rememberedLengthMax = 32 * 1024;

/**
 * Remembers what `check` found for a document text, the least recently used ones forgotten first. What was found under
 * other limits is forgotten at once, because limits change while the process runs.
 */
export function rememberChecked<Limits extends object, Found>(
  entriesMax: number,
  limits: () => Limits,
  check: (query: string, limits: Limits) => Found,
): (query: string) => Found {
  const remembered = new Map<string, Found>();
  let foundUnder = "";
  return (query) => {
    const current = limits();
    if (query.length > rememberedLengthMax) return check(query, current);
    const under = Object.values(current).join();
    if (under !== foundUnder) remembered.clear();
    foundUnder = under;
    const found = remembered.get(query) ?? check(query, current);
    remembered.delete(query);
    remembered.set(query, found);
    if (remembered.size > entriesMax) remembered.delete(remembered.keys().next().value as string);
    return found;
  };
}
