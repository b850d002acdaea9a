import type { RawValue } from "./parse-value.ts";

export interface SourceEntry {
  readonly raw: RawValue;
  /** The place the value was written at. */
  readonly origin: string;
}

/** One place values come from. Entries are keyed by the name as written, which may be unknown here. */
export interface ValueSource {
  readonly name: string;
  readonly entries: ReadonlyMap<string, SourceEntry>;
  /** The places that could not be read at all. */
  readonly faults: readonly { readonly origin: string; readonly expected: string }[];
}
