import { randomBytes } from "node:crypto";

/** Texts that can be recognised anywhere. */
export interface Plants {
  /** Creates a unique text for a field that is stored as given. */
  text(field: string): string;
  /**
   * Creates a unique text for a field that is sealed, digested or not stored: it must not be found, before or after.
   */
  secret(field: string): string;
  /** Adds a value of the product, such as an id, to the texts. */
  take(field: string, text: string): string;
  /** By field: texts that must be found while the account exists. */
  readonly shown: ReadonlyMap<string, string>;
  /** By field: texts that must not be found after its purge. */
  readonly all: ReadonlyMap<string, string>;
}

export function createPlants(): Plants {
  const [shown, all] = [new Map<string, string>(), new Map<string, string>()];
  const round = randomBytes(5).toString("hex");
  const make = (field: string) => {
    const text = `pl-${round}-${field}-z`;
    all.set(field, text);
    return text;
  };
  return {
    shown,
    all,
    text: (field) => {
      const text = make(field);
      shown.set(field, text);
      return text;
    },
    secret: make,
    take: (field, text) => {
      shown.set(field, text);
      all.set(field, text);
      return text;
    },
  };
}

/** Returns the forms of a text in stored data: plain, and within base64 at each of its three offsets. */
export function formsOf(text: string): string[] {
  const encoded = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
    // Characters that share bits with their neighbours are dropped.
    const whole = Math.floor((bytes.length * 8) / 6);
    return bytes.toString("base64").slice(Math.ceil((before * 8) / 6), whole);
  });
  return [text, ...encoded, ...encoded.map((one) => one.replaceAll("+", "-").replaceAll("/", "_"))];
}
