import { ApiError } from "@signalbox/client";
import type { Versioned } from "../session/api.ts";
import { differencesOf } from "./differences.ts";

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

/**
 * Saves an input over the version that it is based on; one that somebody else saved meanwhile is handed over first. A
 * change of something that the form does not have, such as the variants of an image, needs nobody's decision.
 */
export async function saveVersion<Data, Input extends object>(
  { read, save, inputOf }: Saving<Data, Input>,
  { input, on }: Draft<Data, Input>,
  onTheirs: (theirs: Versioned<Data>) => void,
): Promise<Versioned<Data>> {
  try {
    return await save(input, on.data, on.etag);
  } catch (error) {
    if (!(error instanceof ApiError && [409, 412].includes(error.status))) throw error;
    const theirs = await read();
    // A conflict of another kind, such as a limit, left the version as it was.
    if (theirs.etag === on.etag) throw error;
    if (differencesOf(inputOf(on.data), inputOf(theirs.data)).length === 0)
      return save(input, theirs.data, theirs.etag);
    onTheirs(theirs);
    throw error;
  }
}
