/**
 * Keeps rows in the places that they had when a person pointed at them: known ones change where they are, and new ones
 * wait. What they push off the page stays for as long.
 */
export function steadyRows<Row>(held: readonly Row[], now: readonly Row[], keyOf: (row: Row) => string) {
  const newest = new Map(now.map((row) => [keyOf(row), row]));
  const known = new Set(held.map(keyOf));
  const waiting = now.filter((row) => !known.has(keyOf(row))).length;
  const shown = held.flatMap((row) => newest.get(keyOf(row)) ?? (waiting > 0 ? row : []));
  return { shown, waiting };
}
