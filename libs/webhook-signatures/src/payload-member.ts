/** A non-empty text (or a number, as text) at a path of a parsed payload, else null. */
export function payloadText(payload: unknown, ...path: string[]): string | null {
  let value: unknown = payload;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return null;
    value = (value as Record<string, unknown>)[name];
  }
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  return typeof value === "string" && value !== "" ? value : null;
}
