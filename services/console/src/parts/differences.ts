/** A field in which two versions of a thing differ, with both values. */
export interface Difference {
  readonly name: string;
  readonly mine: string;
  readonly theirs: string;
}

/** Names the fields in which two versions differ, with both values. */
export function differencesOf<Input extends object>(
  mine: Input,
  theirs: { readonly [Name in keyof Input]?: unknown },
): Difference[] {
  return (Object.keys(mine) as (keyof Input & string)[])
    .map((name) => ({ name: wordsOf(name), mine: textOf(mine[name]), theirs: textOf(theirs[name]) }))
    .filter(({ mine, theirs }) => mine !== theirs);
}

/** Writes the name of a field for people: "eventTypes" is "event types". */
const wordsOf = (name: string): string =>
  name.replaceAll(/([a-z])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`);

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Returns true for values that are written in the same way. */
export const isSame = (one: unknown, other: unknown): boolean => textOf(one) === textOf(other);
