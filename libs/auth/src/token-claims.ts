import { isScope, privilegedScopes, type Role, type Scope, scopesOfRole } from "@signalbox/contracts";
import type { JWTPayload } from "jose";
import type { Issuer } from "./issuers.ts";

export interface TokenAccess {
  readonly kind: "token" | "client";
  readonly scopes: ReadonlySet<Scope>;
  readonly roles: readonly Role[];
}

/**
 * The effective scopes of a verified token, CONTRACT §1. Scopes it names count within the issuer's `scopes-max`; the
 * privileged ones only when a mapped role has them too. A user's token that names none of ours gets its mapped role's,
 * else `owner`'s. A client's token has only what it names.
 */
export function accessOfToken(issuer: Issuer, claims: JWTPayload): TokenAccess {
  const mapped = mappedRoles(issuer, claims);
  const byRole = new Set(mapped.flatMap((role) => scopesOfRole(role)));
  const max = new Set<Scope>(issuer["scopes-max"] ?? scopesOfRole("owner"));
  const named = namedScopes(issuer, claims);
  const fromNames = named.filter((scope) => (privilegedScopes.has(scope) ? byRole.has(scope) : max.has(scope)));

  if (isClientToken(issuer, claims)) return { kind: "client", scopes: new Set(fromNames), roles: mapped };
  if (named.length > 0) return { kind: "token", scopes: new Set(fromNames), roles: orOwner(mapped) };
  if (mapped.length > 0) return { kind: "token", scopes: byRole, roles: mapped };
  return { kind: "token", scopes: new Set(scopesOfRole("owner").filter((scope) => max.has(scope))), roles: ["owner"] };
}

/** `scope` (RFC 8693 §4.2: words apart), `scp` (words or a list) and the issuer's own claim, as far as they are ours. */
function namedScopes(issuer: Issuer, claims: JWTPayload): Scope[] {
  const path = issuer["scopes-claim"];
  const own = path === undefined ? undefined : claimAt(claims, path);
  return [claims.scope, claims.scp, own].flatMap(words).filter(isScope);
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

/** A claim by its whole name first (names may hold dots, as URLs do), else by the path through nested objects. */
function claimAt(claims: Record<string, unknown>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  return path.split(".").reduce<unknown>((value, step) => {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    return (value as Record<string, unknown>)[step];
  }, claims);
}

/** Zitadel names roles by the members of an object: `{ "admin": { "<organization>": "<domain>" } }`. */
function namesIn(value: unknown): string[] {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRecord ? Object.keys(value) : words(value);
}

function words(value: unknown): string[] {
  if (typeof value === "string") return value.split(" ").filter((word) => word.length > 0);
  return Array.isArray(value) ? value.filter((word): word is string => typeof word === "string") : [];
}

const orOwner = (mapped: readonly Role[]): readonly Role[] => (mapped.length > 0 ? mapped : ["owner"]);
