import { isScope, privilegedScopes, type Role, type Scope, scopesOfRole } from "@signalbox/contracts";
import type { JWTPayload, ProtectedHeaderParameters } from "jose";
import type { Issuer } from "./issuers.ts";

export interface TokenAccess {
  readonly kind: "token" | "client";
  readonly scopes: ReadonlySet<Scope>;
  readonly roles: readonly Role[];
}

/**
 * Computes the effective scopes of a verified token, CONTRACT §1. Scopes that it names count within the issuer's
 * `scopes-max`; privileged ones only when a mapped role has them too. A user's token that names none of ours gets those
 * of its mapped role, else of `owner`, unless it says that its application is limited. A client's token has only the
 * scopes that it names.
 */
export function accessOfToken(issuer: Issuer, claims: JWTPayload): TokenAccess {
  const mapped = mappedRoles(issuer, claims);
  const byRole = new Set(mapped.flatMap((role) => scopesOfRole(role)));
  const max = new Set<Scope>(issuer["scopes-max"] ?? scopesOfRole("owner"));
  const named = namedScopes(issuer, claims);
  const fromNames = named.filter((scope) => (privilegedScopes.has(scope) ? byRole.has(scope) : max.has(scope)));

  if (isClientToken(issuer, claims)) return { kind: "client", scopes: new Set(fromNames), roles: mapped };
  const namesAll = named.length > 0 || claims[limitedClaim] === true;
  if (namesAll) return { kind: "token", scopes: new Set(fromNames), roles: orOwner(mapped) };
  if (mapped.length > 0) return { kind: "token", scopes: byRole, roles: mapped };
  return { kind: "token", scopes: new Set(scopesOfRole("owner").filter((scope) => max.has(scope))), roles: ["owner"] };
}

/** The claim of a person's token that has no scopes but those that it names, and so possibly none. */
export const limitedClaim = "named_scopes_only";

/**
 * Collects our scopes from `scope` (RFC 8693 §4.2: separate words), `scp` (words or a list) and the issuer's own claim.
 */
function namedScopes(issuer: Issuer, claims: JWTPayload): Scope[] {
  const path = issuer["scopes-claim"];
  const own = path === undefined ? undefined : claimAt(claims, path);
  const prefix = issuer["scopes-prefix"] ?? "";
  const bare = (name: string) => (name.startsWith(prefix) ? name.slice(prefix.length) : name);
  return [claims.scope, claims.scp, own].flatMap(words).map(bare).filter(isScope);
}

function mappedRoles(issuer: Issuer, claims: JWTPayload): Role[] {
  const path = issuer["roles-claim"];
  if (path === undefined) return [];
  const mapped = namesIn(claimAt(claims, path)).filter((name) => Object.hasOwn(issuer.roles, name));
  return [...new Set(mapped.map((name) => issuer.roles[name]))].filter((role) => role !== undefined);
}

function isClientToken(issuer: Issuer, claims: JWTPayload): boolean {
  const rule = issuer["client-claim"];
  // Okta calls the client `cid`.
  if (rule === undefined) return [claims.client_id, claims.azp, claims.cid].includes(claims.sub);
  const [claim = "", value] = rule.split("=", 2);
  const found = claimAt(claims, claim);
  return value === undefined ? found !== undefined && found !== null && found !== false : String(found) === value;
}

/**
 * Finds a claim by its whole name first (names may contain dots, as URLs do), else by the path through nested objects.
 */
function claimAt(claims: Record<string, unknown>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  return path.split(".").reduce<unknown>((value, step) => {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    return (value as Record<string, unknown>)[step];
  }, claims);
}

/**
 * Collects names from a value. Zitadel names roles by the members of an object: `{ "admin": { "<organization>":
 * "<domain>" } }`.
 */
function namesIn(value: unknown): string[] {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRecord ? Object.keys(value) : words(value);
}

function words(value: unknown): string[] {
  if (typeof value === "string") return value.split(" ").filter((word) => word.length > 0);
  return Array.isArray(value) ? value.filter((word): word is string => typeof word === "string") : [];
}

const orOwner = (mapped: readonly Role[]): readonly Role[] => (mapped.length > 0 ? mapped : ["owner"]);

/** Returns true when the claim that names the audience has one of the issuer's for us. */
export function isForUs(issuer: Issuer, claims: JWTPayload): boolean {
  const ours = [issuer.audience].flat();
  return [claimAt(claims, issuer["audience-claim"])].flat().some((name) => ours.some((one) => one === name));
}

/** `typ` in the header of an access token (RFC 9068 §2.1), and of tokens without a specific type. */
const headerTypes = new Set(["jwt", "at+jwt", "application/at+jwt"]);

/**
 * `typ` among the claims, by which Keycloak distinguishes access tokens from ID, refresh, offline and logout tokens.
 */
const claimTypes = new Set(["bearer", "access", "jwt", "at+jwt", "application/at+jwt"]);

/** Claims that an access token for us never has, with the reason for the refusal. */
const foreignClaims = [
  ["cnf", "It is bound to a key of its client (cnf), which is not supported here."],
  ["nonce", "It is an ID token (nonce)."],
  ["at_hash", "It is an ID token (at_hash)."],
  ["c_hash", "It is an ID token (c_hash)."],
  ["s_hash", "It is an ID token (s_hash)."],
  ["events", "It is an event token (events)."],
] as const;

/**
 * Describes the other purpose of a verified token; null for an access token. An issuer signs all kinds with the same
 * key, and their audiences may coincide (RFC 8725 §3.11 and §3.12).
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
