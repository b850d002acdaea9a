import type { Claim } from "./signature-scheme.ts";

/** The first of the paths that leads to a text of the payload, which every scheme signs. */
export function signedMember(payload: unknown, ...paths: (readonly string[])[]): Claim | null {
  for (const path of paths) {
    const value = textAt(payload, path);
    if (value !== null) return { value, signed: true };
  }
  return null;
}

/** A text of the payload at a pointer (RFC 6901), else null. */
export const textAtPointer = (payload: unknown, pointer: string): string | null =>
  textAt(
    payload,
    pointer
      .slice(1)
      .split("/")
      .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~")),
  );

/** A non-empty text (or a number, as text) at a path of a parsed payload, else null. */
export function textAt(payload: unknown, path: readonly string[]): string | null {
  let value: unknown = payload;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return null;
    value = (value as Record<string, unknown>)[name];
  }
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  return typeof value === "string" && value !== "" ? value : null;
}
