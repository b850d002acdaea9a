/**
 * JSON of somebody else: the text as it was written, for those who carry it, and the value, for those who look into it.
 */
export class RawJson {
  readonly text: string;
  /** The parsed text, whose numbers are doubles and whose members may have another order. */
  readonly value: unknown;
  /** True when every text with an equal value means the same. */
  readonly isExact: boolean;

  constructor(text: string, value: unknown, isExact: boolean) {
    this.text = text;
    this.value = value;
    this.isExact = isExact;
  }

  /** Writes a value of ours. */
  static of(value: unknown): RawJson {
    return new RawJson(JSON.stringify(value), value, true);
  }

  /** Returns what tells it from other JSON: its value, or its text where a double or a recursive reader loses some. */
  toJSON(): unknown {
    return this.isExact ? this.value : this.text;
  }
}
