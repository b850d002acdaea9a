import type { JWTPayload, ProtectedHeaderParameters } from "jose";

/** `typ` in the header of an access token (RFC 9068 §2.1), and of tokens that do not say what they are. */
const headerTypes = new Set(["jwt", "at+jwt", "application/at+jwt"]);

/** `typ` among the claims, where Keycloak tells ID, refresh, offline and logout tokens from access tokens. */
const claimTypes = new Set(["bearer", "access", "jwt", "at+jwt", "application/at+jwt"]);

/** Claims that an access token for us never has, and what has them. */
const foreignClaims = [
  ["cnf", "It is bound to a key of its client (cnf), whose proof is not checked here."],
  ["nonce", "It is an ID token (nonce)."],
  ["at_hash", "It is an ID token (at_hash)."],
  ["c_hash", "It is an ID token (c_hash)."],
  ["s_hash", "It is an ID token (s_hash)."],
  ["events", "It is an event token (events)."],
] as const;

/**
 * Says what a verified token is, where it was made for another purpose than access; null for an access token. An issuer
 * signs all kinds with one key, and their audiences may meet (RFC 8725 §3.11 and §3.12).
 */
export function otherPurposeOf({ typ }: ProtectedHeaderParameters, claims: JWTPayload): string | null {
  if (typ !== undefined && !isOneOf(headerTypes, typ)) return "It is not an access token.";
  if (claims.typ !== undefined && !isOneOf(claimTypes, claims.typ)) return "It is not an access token.";
  if (claims.token_use !== undefined && claims.token_use !== "access") return "It is not an access token.";
  const [, found = null] = foreignClaims.find(([claim]) => Object.hasOwn(claims, claim)) ?? [];
  return found;
}

const isOneOf = (known: ReadonlySet<string>, type: unknown): boolean =>
  typeof type === "string" && known.has(type.toLowerCase());
