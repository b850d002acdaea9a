import { AppError, type Clock, isAppError, seconds } from "@signalbox/core";
import {
  decodeJwt,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
  type ProtectedHeaderParameters,
} from "jose";
import { createIssuerKeys } from "./issuer-keys.ts";
import type { Issuer } from "./issuers.ts";
import { createLocalKeys, type KeySet } from "./local-keys.ts";
import { accessOfToken, type TokenAccess } from "./token-claims.ts";

/** A token that was verified, and what it says. */
export interface VerifiedToken extends TokenAccess {
  /** Our name of the issuer. */
  readonly issuer: string;
  readonly subject: string;
  /** Fit for logs and audit: `jti:<issuer>:<jti>`, else `sub:<issuer>:<subject>`. */
  readonly id: string;
  /** `auth_time`; null when there is none, or none that can be true. */
  readonly authTimeMs: number | null;
  /** `exp` and the tolerated skew: the moment from which the token is refused. */
  readonly expiresAt: Date;
  /** All claims, for the first values of a new account. */
  readonly claims: JWTPayload;
}

export interface TokenVerifier {
  /** Throws AppError `unauthorized`, or `unavailable` when the issuer's keys could not be read even once. */
  verify(token: string): Promise<VerifiedToken>;
}

interface Dependencies {
  readonly issuers: readonly Issuer[];
  readonly clock: Clock;
  /** How far clocks may differ, both ways. */
  readonly clockSkewSeconds: number;
  readonly onKeysFailure: (issuer: string, error: unknown) => void;
  /** The keys of issuers that run in this process, by our name of them; the others are asked over HTTP. */
  readonly localKeys?: Readonly<Record<string, () => KeySet>>;
  readonly fetch?: (url: string) => Promise<unknown>;
}

/** Types of tokens made for another purpose (logout tokens, DPoP proofs, …) are refused: RFC 8725 §3.11. */
const acceptedTypes = new Set(["jwt", "at+jwt", "application/at+jwt"]);
/** OpenID Connect Core §2 bounds `sub`; a longer `jti` is not used as a name. */
const nameLengthMax = 255;
/** The last second of the year 9999: RFC 3339 writes no later one, and other services are told in its form. */
const latestSecond = 253_402_300_799;

/** Creates the verifier of access tokens from the configured issuers. */
export function createTokenVerifier(dependencies: Dependencies): TokenVerifier {
  const { issuers, clock, clockSkewSeconds, onKeysFailure, localKeys = {}, fetch } = dependencies;
  const tolerance = { clock, clockSkewSeconds };
  const byIdentifier = new Map(issuers.map((issuer) => [issuer.issuer, { issuer, keys: keysOf(issuer) }]));

  return {
    async verify(token) {
      // The issuer named by the unverified token only chooses whose keys must verify it.
      const trusted = byIdentifier.get(issuerOf(token));
      if (!trusted) throw refused("Its issuer is not trusted here.");
      const claims = await checkedClaims(token, trusted, tolerance);
      return { ...describe(trusted.issuer.name, claims, tolerance), ...accessOfToken(trusted.issuer, claims) };
    },
  };

  function keysOf({ name, issuer }: Issuer): JWTVerifyGetKey {
    const local = localKeys[name];
    if (local) return createLocalKeys(local);
    const onFailure = (error: unknown) => onKeysFailure(name, error);
    return createIssuerKeys({ issuer, clock, onFailure, ...(fetch && { fetch }) });
  }
}

interface Trusted {
  readonly issuer: Issuer;
  readonly keys: JWTVerifyGetKey;
}

type Tolerance = Pick<Dependencies, "clock" | "clockSkewSeconds">;

async function checkedClaims(token: string, trusted: Trusted, tolerance: Tolerance): Promise<JWTPayload> {
  const { issuer, audience, algorithms } = trusted.issuer;
  try {
    const { payload, protectedHeader } = await jwtVerify(token, trusted.keys, {
      issuer,
      audience,
      algorithms,
      clockTolerance: tolerance.clockSkewSeconds,
      currentDate: tolerance.clock.now(),
      requiredClaims: ["exp", "sub"],
    });
    checkType(protectedHeader);
    return payload;
  } catch (error) {
    if (isAppError(error)) throw error;
    if (error instanceof errors.JWTExpired) throw refused("It has expired.", error);
    if (error instanceof errors.JOSEError || error instanceof TypeError) throw refused("It is not valid.", error);
    throw error;
  }
}

function describe(issuer: string, claims: JWTPayload, tolerance: Tolerance): Omit<VerifiedToken, keyof TokenAccess> {
  const subject = claims.sub ?? "";
  if (!isUsableName(subject)) throw refused("Its subject is not usable.");
  return {
    issuer,
    subject,
    id: tokenId(issuer, subject, claims.jti),
    authTimeMs: pastTimeMs(claims.auth_time, tolerance),
    expiresAt: new Date(Math.min((claims.exp ?? 0) + tolerance.clockSkewSeconds, latestSecond) * 1000),
    claims,
  };
}

/** A sign-in that has not happened yet proves nothing: it would count as recent until long after its time. */
function pastTimeMs(second: unknown, { clock, clockSkewSeconds }: Tolerance): number | null {
  if (typeof second !== "number" || second < 0) return null;
  return second * 1000 > clock.nowMs() + seconds(clockSkewSeconds) ? null : second * 1000;
}

function tokenId(issuer: string, subject: string, jti: unknown): string {
  return typeof jti === "string" && isUsableName(jti) ? `jti:${issuer}:${jti}` : `sub:${issuer}:${subject}`;
}

/** Names that can be stored and compared: not empty, bounded, well-formed, without control characters. */
function isUsableName(text: string): boolean {
  return text.length > 0 && text.length <= nameLengthMax && text.isWellFormed() && !/\p{Cc}/u.test(text);
}

function issuerOf(token: string): string {
  try {
    return decodeJwt(token).iss ?? "";
  } catch (error) {
    throw refused("It is not a token.", error);
  }
}

function checkType({ typ }: ProtectedHeaderParameters): void {
  if (typ !== undefined && !acceptedTypes.has(typ.toLowerCase())) throw refused("It is not an access token.");
}

const refused = (why: string, cause?: unknown) =>
  new AppError("unauthorized", `The access token is not accepted. ${why}`, { cause });
