/** The members of `T`; those whose value may be undefined are optional instead. */
export type DefinedMembers<T extends object> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Drops members whose value is undefined, for receivers that tell an undefined member from an absent one. */
export function definedMembers<T extends object>(members: T): DefinedMembers<T> {
  const entries = Object.entries(members).filter(([, member]) => member !== undefined);
  return Object.fromEntries(entries) as DefinedMembers<T>;
}
