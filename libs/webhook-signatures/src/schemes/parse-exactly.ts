/** Numbers that a double may write in another way: long ones, with an exponent, with zeros at the end. */
const maybeInexact = /\d{16}|\d[eE][+-]?\d|\.\d*0(?!\d)/;

/**
 * Parses JSON. A number that a double would write in another way becomes the text that the sender signed, which may be an
 * id; a safe integer stays a number in any form.
 */
export function parseExactly(json: string): unknown {
  if (!maybeInexact.test(json)) return JSON.parse(json);
  const keepText = (_name: string, value: unknown, { source }: { readonly source?: string }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && String(value) !== source ? source : value;
  return JSON.parse(json, keepText as (name: string, value: unknown) => unknown);
}
