import type { Claim } from "./signature-scheme.ts";

/** Returns the first non-empty text at one of the paths. Every scheme signs the payload. */
export function signedMember(payload: unknown, ...paths: (readonly string[])[]): Claim | null {
  for (const path of paths) {
    const value = textAt(payload, path);
    if (value !== null) return { value, signed: true };
  }
  return null;
}

/** Returns the text at a pointer (RFC 6901), or null. */
export const textAtPointer = (payload: unknown, pointer: string): string | null => textAt(payload, pathOf(pointer));

/**
 * Returns the texts at a pointer. A list on the way stands for each of its items, unless the pointer names one by its
 * index. Returns null when one of them is missing.
 */
export function textsAtPointer(payload: unknown, pointer: string): readonly string[] | null {
  let values: readonly unknown[] = [payload];
  for (const name of pathOf(pointer)) {
    const isIndex = /^\d+$/.test(name);
    const owners = isIndex ? values : values.flatMap((value) => (Array.isArray(value) ? value : [value]));
    values = owners.map((owner) => memberOf(owner, name));
  }
  const texts = values.map(textOf).filter((text) => text !== null);
  return texts.length === values.length ? texts : null;
}

/**
 * Returns the text at a pointer of which there is only one: a list on the way has exactly one item, so that nothing
 * unsigned stands beside what is signed. Returns null for a missing value, undefined for one that is no text.
 */
export function soleTextAt(payload: unknown, pointer: string): string | null | undefined {
  let value = payload;
  for (const name of pathOf(pointer)) {
    if (Array.isArray(value) && value.length !== 1) return undefined;
    value = memberOf(value, name);
  }
  if (value === undefined || value === null) return null;
  return ["string", "number", "boolean"].includes(typeof value) ? String(value) : undefined;
}

const pathOf = (pointer: string): readonly string[] =>
  pointer
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));

/** Returns a non-empty text (or a number, as text) at a path of a parsed payload, or null. */
export function textAt(payload: unknown, path: readonly string[]): string | null {
  return textOf(path.reduce(memberOf, payload));
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

function textOf(value: unknown): string | null {
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  return typeof value === "string" && value !== "" ? value : null;
}
