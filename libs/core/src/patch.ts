import { isDeepStrictEqual } from "node:util";

/** Some members of `T`; an absent or undefined one stays unchanged. */
export type Patch<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** Applies a patch to a value. */
export function patched<T extends object>(value: T, patch: Patch<T>): T {
  const given = Object.entries(patch).filter(([, member]) => member !== undefined);
  return { ...value, ...Object.fromEntries(given) };
}

/** Lists the members of `names` in which two values differ, by their wire names. */
export function changedMembers<T extends object>(
  before: T,
  after: T,
  names: { readonly [K in keyof T]?: string },
): string[] {
  return Object.entries<string | undefined>(names).flatMap(([member, name = member]) =>
    isDeepStrictEqual(before[member as keyof T], after[member as keyof T]) ? [] : [name],
  );
}
