import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** The header that carries the internal token between services. */
export const internalTokenHeader = "x-signalbox-internal-token";

/**
 * Judges a request to an internal listener by the live values of `internal.token` and `internal.callers`. If there are
 * callers, a token opens only the paths of its own.
 */
export function judgeInternalCall(
  { headers, url = "/" }: IncomingMessage,
  { tokens, callers }: { readonly tokens: readonly string[]; readonly callers: readonly string[] },
): { readonly isAdmitted: boolean; readonly caller: string | null } {
  const presented = headers[internalTokenHeader];
  if (callers.length === 0) return { isAdmitted: internalTokenMatches(presented, tokens), caller: null };
  const caller = callerOf(presented, callers);
  return { caller, isAdmitted: caller !== null && mayCall(caller, url.split("?", 1)[0] as string) };
}

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
function callerOf(presented: string | string[] | undefined, callers: readonly string[]): string | null {
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
function mayCall(caller: string, path: string): boolean {
  const { callers } = internalPaths.find((door) => door.path.test(path)) ?? { callers: ["gateway"] };
  return callers === "every" || callers.includes(caller);
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
