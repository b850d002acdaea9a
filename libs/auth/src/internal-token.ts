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

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
