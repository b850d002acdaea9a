import type { RawValue } from "./parse-value.ts";

export interface SourceEntry {
  readonly raw: RawValue;
  /** The place of the value in its source. */
  readonly origin: string;
}

/** One source of values. Entries are keyed by the name as written, which may be unknown here. */
export interface ValueSource {
  readonly name: string;
  readonly entries: ReadonlyMap<string, SourceEntry>;
  /** The parts of the source that could not be read. */
  readonly faults: readonly { readonly origin: string; readonly expected: string }[];
}
