/** A number that `JSON.stringify` writes as it is (proposal "JSON.parse source text access", in Node 22). */
const { rawJSON, isRawJSON } = JSON as unknown as {
  readonly rawJSON: (text: string) => unknown;
  readonly isRawJSON: (value: unknown) => value is { readonly rawJSON: string };
};

type Reviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown;

/** Parses JSON so that it is printed with the numbers with which it was written: `1.10`, `9007199254740993`. */
export const parseExactly = (text: string): unknown => {
  const keepNumber: Reviver = (_name, value, { source }) =>
    typeof value === "number" && source !== undefined ? rawJSON(source) : value;
  return JSON.parse(text, keepNumber as (name: string, value: unknown) => unknown);
};

/** Writes a parsed value as `String` does, its numbers as they were written. */
export function textOf(value: unknown): string {
  if (isRawJSON(value)) return value.rawJSON;
  return Array.isArray(value) ? value.map(textOf).join(",") : String(value);
}
