/** A field in which two versions of a thing differ, with both values. */
export interface Difference {
  readonly name: string;
  readonly mine: string;
  readonly theirs: string;
}

/** Names the fields in which two versions differ, with both values. */
export function differencesOf<Input extends object>(mine: Input, theirs: Input): Difference[] {
  return (Object.keys(mine) as (keyof Input & string)[])
    .filter((name) => mine[name] !== theirs[name])
    .map((name) => ({ name, mine: String(mine[name]), theirs: String(theirs[name]) }));
}
