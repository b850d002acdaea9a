import { createHash, timingSafeEqual } from "node:crypto";

/** The header that carries the internal token between services. */
export const internalTokenHeader = "x-signalbox-internal-token";

/**
 * Returns true when `presented` is one of the live `tokens` (two during a rotation). All digests are compared, so that
 * the time taken reveals nothing about any of them.
 */
export function internalTokenMatches(presented: string | string[] | undefined, tokens: readonly string[]): boolean {
  if (typeof presented !== "string" || presented.length === 0) return false;
  const digest = sha256(presented);
  return tokens.reduce((matched, token) => timingSafeEqual(digest, sha256(token)) || matched, false);
}

/**
 * Returns the caller that owns the presented token, or null. `callers` are `<service>=<token>`; all of them are
 * compared, as above.
 */
export function internalCaller(presented: string | string[] | undefined, callers: readonly string[]): string | null {
  return callers.reduce<string | null>((found, entry) => {
    const at = entry.indexOf("=");
    return internalTokenMatches(presented, [entry.slice(at + 1)]) ? entry.slice(0, at) : found;
  }, null);
}

/** The callers of each path of an internal listener; all other paths are for the gateway alone. */
const internalPaths: readonly { readonly path: RegExp; readonly callers: readonly string[] | "every" }[] = [
  { path: /^\/internal\/principals$/, callers: "every" },
  { path: /^\/internal\/accounts\//, callers: ["account"] },
];

/** Returns true when a caller may use a path of an internal listener. Only the gateway may speak for accounts. */
export function mayCallInternally(caller: string, path: string): boolean {
  const { callers } = internalPaths.find((door) => door.path.test(path)) ?? { callers: ["gateway"] };
  return callers === "every" || callers.includes(caller);
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
