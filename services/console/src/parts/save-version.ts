import { ApiError } from "@signalbox/client";
import type { Versioned } from "../session/api.ts";
import { isSame } from "./differences.ts";

export interface Saving<Data, Input> {
  /** Reads the saved version, when somebody else has changed it. */
  readonly read: () => Promise<Versioned<Data>>;
  /** Sends the input; the version makes sure that nobody's change is overwritten unseen. Returns what is saved now. */
  readonly save: (input: Input, before: Data, etag: string | null) => Promise<Versioned<Data>>;
  readonly inputOf: (data: Data) => Input;
}

/** The typed values, with the version that they are based on. */
export interface Draft<Data, Input> {
  readonly input: Input;
  readonly on: Versioned<Data>;
}

/** Two inputs with one base, merged by field. */
export interface Merge<Input> {
  /** Has mine where both changed a field. */
  readonly merged: Input;
  /** The fields that both changed, each to another value. */
  readonly contested: readonly (keyof Input & string)[];
}

/** Merges two inputs with one base: a field that one of them changed has that value. */
export function mergeInputs<Input extends object>(base: Input, mine: Input, theirs: Input): Merge<Input> {
  const names = Object.keys(mine) as (keyof Input & string)[];
  const changed = names.filter((name) => !isSame(mine[name], base[name]));
  const own = Object.fromEntries(changed.map((name) => [name, mine[name]]));
  return {
    merged: { ...theirs, ...own },
    contested: changed.filter((name) => !isSame(theirs[name], base[name]) && !isSame(theirs[name], mine[name])),
  };
}

/**
 * Saves an input over the version that it is based on. What somebody else saved meanwhile is merged with it; only where
 * both changed a field, the other version is handed over for a decision.
 */
export async function saveVersion<Data, Input extends object>(
  { read, save, inputOf }: Saving<Data, Input>,
  { input, on }: Draft<Data, Input>,
  onContested: (theirs: Versioned<Data>, merge: Merge<Input>) => void,
): Promise<Versioned<Data>> {
  try {
    return await save(input, on.data, on.etag);
  } catch (error) {
    if (!(error instanceof ApiError && [409, 412].includes(error.status))) throw error;
    const theirs = await read();
    // A conflict of another kind, such as a limit, left the version as it was.
    if (theirs.etag === on.etag) throw error;
    const merge = mergeInputs(inputOf(on.data), input, inputOf(theirs.data));
    if (merge.contested.length === 0) return save(merge.merged, theirs.data, theirs.etag);
    onContested(theirs, merge);
    throw error;
  }
}
