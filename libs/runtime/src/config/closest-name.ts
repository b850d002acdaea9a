/**
 * Finds the known name that was meant by a misspelt one: one that only has more parts (`management.server.port` for
 * `management.port`), or else the one that differs in the fewest letters. `undefined` when none is near enough.
 */
export function closestName(name: string, known: Iterable<string>): string | undefined {
  const names = [...known];
  return withMoreParts(name, names) ?? withFewestEdits(name, names);
}

/** The shortest name that has all parts of this one in their order, when there is only one. A single part means too much. */
function withMoreParts(name: string, known: readonly string[]): string | undefined {
  const parts = name.toLowerCase().split(".");
  if (parts.length < 2) return undefined;
  const found = known.filter((candidate) => {
    const others = candidate.toLowerCase().split(".");
    let next = 0;
    return parts.every((part) => {
      next = others.indexOf(part, next) + 1;
      return next > 0;
    });
  });
  const length = (candidate: string) => candidate.split(".").length;
  const shortest = Math.min(...found.map(length));
  const best = found.filter((candidate) => length(candidate) === shortest);
  return best.length === 1 ? best[0] : undefined;
}

function withFewestEdits(name: string, known: readonly string[]): string | undefined {
  let closest: string | undefined;
  let fewest = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    const edits = editsBetween(name.toLowerCase(), candidate.toLowerCase());
    if (edits < fewest) {
      closest = candidate;
      fewest = edits;
    }
  }
  return closest;
}

/** Computes Levenshtein's distance, one row at a time. */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replace = (row[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replace, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[to.length] as number;
}
