import { createHash, timingSafeEqual } from "node:crypto";

/** The header by which one service proves to another that it belongs to the house. */
export const internalTokenHeader = "x-signalbox-internal-token";

/**
 * Tells if `presented` is one of the live `tokens` (two during a rotation). Digests are compared, all of them, so that
 * the time taken says nothing about any of them.
 */
export function internalTokenMatches(presented: string | string[] | undefined, tokens: readonly string[]): boolean {
  if (typeof presented !== "string" || presented.length === 0) return false;
  const digest = sha256(presented);
  return tokens.reduce((matched, token) => timingSafeEqual(digest, sha256(token)) || matched, false);
}

/**
 * Names the caller whose token is shown, null when it is nobody's. `callers` are `<service>=<token>`; all of them are
 * compared, as above.
 */
export function internalCaller(presented: string | string[] | undefined, callers: readonly string[]): string | null {
  return callers.reduce<string | null>((found, entry) => {
    const at = entry.indexOf("=");
    return internalTokenMatches(presented, [entry.slice(at + 1)]) ? entry.slice(0, at) : found;
  }, null);
}

/** Where a caller may go on an internal listener; what is not here is for the gateway alone. */
const doors: readonly { readonly path: RegExp; readonly callers: readonly string[] | "every" }[] = [
  { path: /^\/internal\/principals$/, callers: "every" },
  { path: /^\/internal\/accounts\//, callers: ["account"] },
];

/** Tells whether a caller may use a path of an internal listener: whoever speaks for accounts is the gateway alone. */
export function mayCallInternally(caller: string, path: string): boolean {
  const { callers } = doors.find((door) => door.path.test(path)) ?? { callers: ["gateway"] };
  return callers === "every" || callers.includes(caller);
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
