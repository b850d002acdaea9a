import { hash } from "node:crypto";
import { AppError, type Clock, isAppError, seconds } from "@signalbox/core";
import {
  decodeJwt,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from "jose";
import { builtInIssuer, type Issuer } from "./issuers.ts";
import { createJwksCache, createLocalKeys, type KeySet } from "./jwks-cache.ts";
import { accessOfToken, isForUs, otherPurposeOf, type TokenAccess } from "./token-claims.ts";

/** A verified token and its content. */
export interface VerifiedToken extends TokenAccess {
  /** Our name of the issuer. */
  readonly issuer: string;
  readonly subject: string;
  /** Fit for logs and audit: `jti:<issuer>:<jti>`, else `sub:<issuer>:<subject>`. */
  readonly id: string;
  /** The name of this one token: its `id`, or `digest:<issuer>:<SHA-256>` without a `jti`. */
  readonly tokenId: string;
  /** `auth_time`; null when it is missing or impossible. */
  readonly authTimeMs: number | null;
  /** `exp` plus the tolerated skew: the moment from which the token is refused. */
  readonly expiresAt: Date;
  /** All claims, for the first values of a new account. */
  readonly claims: JWTPayload;
}

export interface TokenVerifier {
  /** Throws AppError `unauthorized`, or `unavailable` while the token's key cannot be read from the issuer. */
  verify(token: string): Promise<VerifiedToken>;
}

interface Dependencies {
  readonly issuers: readonly Issuer[];
  readonly clock: Clock;
  /** Tolerated difference between clocks, in both directions. */
  readonly clockSkewSeconds: number;
  /** Longest lifetime of a token: a stolen one that never expires could be used for ever. */
  readonly maxAgeSeconds: number;
  readonly onKeysFailure: (issuer: string, error: unknown) => void;
  /** Called when the key set of an issuer has malformed keys, which are left out. */
  readonly onKeysSkipped: (issuer: string, places: readonly number[]) => void;
  /** The keys of issuers in this process, by our name of them; keys of other issuers are read over HTTP. */
  readonly localKeys?: Readonly<Record<string, () => KeySet>>;
  readonly fetch?: (url: string) => Promise<unknown>;
}

/** OpenID Connect Core §2 bounds `sub`; a longer `jti` is not used as a name. */
const nameLengthMax = 255;

/** Creates the verifier of access tokens from the configured issuers. */
export function createTokenVerifier(dependencies: Dependencies): TokenVerifier {
  const {
    issuers,
    clock,
    clockSkewSeconds,
    maxAgeSeconds,
    onKeysFailure,
    onKeysSkipped,
    localKeys = {},
    fetch,
  } = dependencies;
  const tolerance = { clock, clockSkewSeconds, maxAgeSeconds };
  const byIdentifier = new Map(issuers.map((issuer) => [issuer.issuer, { issuer, keys: keysOf(issuer) }]));

  return {
    async verify(token) {
      // The issuer in the unverified token only selects the keys that must verify it.
      const trusted = byIdentifier.get(issuerOf(token));
      if (!trusted) throw refused("Its issuer is not trusted here.");
      const claims = await checkedClaims(token, trusted, tolerance);
      return {
        ...describe(trusted.issuer.name, claims, tolerance),
        ...namesOf(trusted.issuer.name, claims, token),
        ...accessOfToken(trusted.issuer, claims),
      };
    },
  };

  function keysOf({ name, issuer }: Issuer): JWTVerifyGetKey {
    const local = localKeys[name];
    if (local) return createLocalKeys(local);
    const onFailure = (error: unknown) => onKeysFailure(name, error);
    const onSkipped = (places: readonly number[]) => onKeysSkipped(name, places);
    return createJwksCache({ issuer, clock, onFailure, onSkipped, fetch });
  }
}

interface Trusted {
  readonly issuer: Issuer;
  readonly keys: JWTVerifyGetKey;
}

type Tolerance = Pick<Dependencies, "clock" | "clockSkewSeconds" | "maxAgeSeconds">;

async function checkedClaims(token: string, trusted: Trusted, tolerance: Tolerance): Promise<JWTPayload> {
  const { issuer, algorithms } = trusted.issuer;
  try {
    const { payload, protectedHeader } = await verifyByKeys(token, trusted.keys, {
      issuer,
      algorithms: algorithms.includes("EdDSA") ? [...algorithms, "Ed25519"] : algorithms,
      clockTolerance: endSkewSeconds(trusted.issuer.name, tolerance),
      currentDate: tolerance.clock.now(),
      requiredClaims: ["exp", "sub"],
    });
    if (!isForUs(trusted.issuer, payload)) throw refused("It is for another audience.");
    const why = otherPurposeOf(protectedHeader, payload) ?? untimely(payload, tolerance);
    if (why !== null) throw refused(why);
    return payload;
  } catch (error) {
    if (isAppError(error)) throw error;
    if (error instanceof errors.JWTExpired) throw refused("It has expired.", error);
    if (error instanceof errors.JOSEError || error instanceof TypeError) throw refused("It is not valid.", error);
    throw error;
  }
}

/** Keys that one token is tried with: more would let a stranger make us work. */
const keysTriedMax = 8;

/** Verifies a token that several keys fit: it names none, or its issuer has published a key id twice. */
async function verifyByKeys(token: string, keys: JWTVerifyGetKey, options: JWTVerifyOptions): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, keys, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    let tried = 0;
    for await (const key of error) {
      try {
        return await jwtVerify(token, key, options);
      } catch (failure) {
        tried += 1;
        // Claims are judged after the signature, so this was the key.
        const isVerified =
          failure instanceof errors.JOSEError && !(failure instanceof errors.JWSSignatureVerificationFailed);
        if (isVerified || tried >= keysTriedMax) throw failure;
      }
    }
    throw error;
  }
}

/** Describes the fault in the lifetime of a token that is valid now; null when there is none. */
function untimely({ iat, exp = 0 }: JWTPayload, { clock, clockSkewSeconds, maxAgeSeconds }: Tolerance): string | null {
  const latestNow = Math.floor(clock.nowMs() / 1000) + clockSkewSeconds;
  if (iat !== undefined && iat > latestNow) return "It was issued in the future.";
  // A token without an issue time was issued now at the latest.
  if (exp - (iat ?? latestNow) > maxAgeSeconds) return "Its lifetime is longer than allowed.";
  return null;
}

type Names = Pick<VerifiedToken, "id" | "tokenId">;

function describe(
  issuer: string,
  claims: JWTPayload,
  tolerance: Tolerance,
): Omit<VerifiedToken, keyof TokenAccess | keyof Names> {
  const subject: unknown = claims.sub;
  if (!isUsableName(subject)) throw refused("Its subject is not usable.");
  return {
    issuer,
    subject,
    authTimeMs: pastTimeMs(claims.auth_time, tolerance),
    expiresAt: new Date(((claims.exp ?? 0) + endSkewSeconds(issuer, tolerance)) * 1000),
    claims,
  };
}

/** Returns the skew added to the expiry of a token. The built-in issuer shares our clock. */
function endSkewSeconds(issuer: string, { clockSkewSeconds }: Tolerance): number {
  return issuer === builtInIssuer ? 0 : clockSkewSeconds;
}

/** Rejects a sign-in in the future: it would count as recent until long after its time. */
function pastTimeMs(second: unknown, { clock, clockSkewSeconds }: Tolerance): number | null {
  if (typeof second !== "number" || second < 0) return null;
  return second * 1000 > clock.nowMs() + seconds(clockSkewSeconds) ? null : second * 1000;
}

function namesOf(issuer: string, { sub, jti }: JWTPayload, token: string): Names {
  if (!isUsableName(jti)) {
    // Digest of the signed part only: a signature could be replaced by an equally valid one (ECDSA has two).
    const signed = token.slice(0, token.lastIndexOf("."));
    return { id: `sub:${issuer}:${sub}`, tokenId: `digest:${issuer}:${hash("sha256", signed, "base64url")}` };
  }
  const id = `jti:${issuer}:${jti}`;
  return { id, tokenId: id };
}

/**
 * Returns true for a name that can be stored and compared: not empty, bounded, well-formed, without control characters.
 */
function isUsableName(text: unknown): text is string {
  if (typeof text !== "string") return false; // an issuer may sign anything
  return text.length > 0 && text.length <= nameLengthMax && text.isWellFormed() && !/\p{Cc}/u.test(text);
}

function issuerOf(token: string): string {
  if (!token.split(".").every(isCanonical)) throw refused("It is not a token.");
  try {
    return decodeJwt(token).iss ?? "";
  } catch (error) {
    throw refused("It is not a token.", error);
  }
}

/**
 * Returns true for the canonical spelling: another spelling of a signature (RFC 4648 §3.5) would count as another
 * credential.
 */
const isCanonical = (part: string): boolean => Buffer.from(part, "base64url").toString("base64url") === part;

const refused = (why: string, cause?: unknown) =>
  new AppError("unauthorized", `The access token is not accepted. ${why}`, { cause });
