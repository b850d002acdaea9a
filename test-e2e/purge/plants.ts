import { randomBytes } from "node:crypto";

/** Texts that are recognized wherever they end up. */
export interface Plants {
  /** A text of its own for a field that is kept as it is given. */
  text(field: string): string;
  /** Likewise for what is kept sealed, as a digest or not at all: nobody finds it, before or after. */
  secret(field: string): string;
  /** Takes what the product made, such as an id, among the texts. */
  take(field: string, text: string): string;
  /** By field: what has to be found while the account is there. */
  readonly shown: ReadonlyMap<string, string>;
  /** By field: what may not be found when it is gone. */
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

/** A text as it stands in what holds it: as it is, and within base64 at each of the three places where it can begin. */
export function formsOf(text: string): string[] {
  const encoded = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
    // Characters that also hold bits of the neighbours tell nothing.
    const whole = Math.floor((bytes.length * 8) / 6);
    return bytes.toString("base64").slice(Math.ceil((before * 8) / 6), whole);
  });
  return [text, ...encoded, ...encoded.map((one) => one.replaceAll("+", "-").replaceAll("/", "_"))];
}
