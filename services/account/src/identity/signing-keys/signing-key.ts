import { createHash, generateKeyPairSync } from "node:crypto";
import { hours, minutes } from "@signalbox/core";

/** A key of the elliptic curve P-256 as RFC 7518 §6.2.1 writes it, with our names for RFC 7517's members. */
export interface PublicJwk {
  readonly kty: "EC";
  readonly crv: "P-256";
  readonly x: string;
  readonly y: string;
  readonly kid: string;
  readonly alg: "ES256";
  readonly use: "sig";
}

export type PrivateJwk = PublicJwk & { readonly d: string };

/** A key pair that signs tokens from `activeFrom` until its successor does. */
export interface SigningKey {
  readonly privateJwk: PrivateJwk;
  readonly createdAt: Date;
  readonly activeFrom: Date;
  /** Time at which its successor starts to sign; null without one. */
  readonly retiredAt: Date | null;
}

/** A key is published this long before it signs: caches of our key set that live for less have it in time. */
const publishedAheadMs = hours(1);
/** Every token that a key signed has ended by then: ID tokens and access tokens live for an hour at most. */
const publishedAfterMs = hours(1) + minutes(10);

/** Creates a key pair for ES256. Its `kid` is the thumbprint of RFC 7638. */
export function newSigningKey(createdAt: Date, activeFrom: Date): SigningKey {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "", d = "" } = privateKey.export({ format: "jwk" });
  const kid = createHash("sha256")
    .update(JSON.stringify({ crv: "P-256", kty: "EC", x, y }))
    .digest("base64url");
  const privateJwk: PrivateJwk = { kty: "EC", crv: "P-256", x, y, d, kid, alg: "ES256", use: "sig" };
  return { privateJwk, createdAt, activeFrom, retiredAt: null };
}

export function publicJwkOf({ privateJwk: { d: _private, ...publicJwk } }: Pick<SigningKey, "privateJwk">): PublicJwk {
  return publicJwk;
}

/** Returns the published keys, the signing one first. */
export function publishedKeys(keys: readonly SigningKey[], now: Date): readonly SigningKey[] {
  const newestFirst = keys
    .filter((key) => !isOver(key, now))
    .sort((one, other) => other.activeFrom.getTime() - one.activeFrom.getTime());
  const signing = newestFirst.find(({ activeFrom }) => activeFrom <= now);
  if (!signing) return newestFirst;
  return [signing, ...newestFirst.filter((key) => key !== signing)];
}

/**
 * Returns the time at which the next key has to start signing: now without any key, null while the newest is young
 * enough.
 */
export function nextActiveFrom(keys: readonly SigningKey[], now: Date, rotationMs: number): Date | null {
  if (keys.length === 0) return now;
  const youngest = Math.max(...keys.map(({ activeFrom }) => activeFrom.getTime()));
  return youngest + rotationMs <= now.getTime() + publishedAheadMs ? new Date(now.getTime() + publishedAheadMs) : null;
}

/** Returns true when every token that the key signed has ended. */
export function isOver({ retiredAt }: SigningKey, now: Date): boolean {
  return retiredAt !== null && retiredAt.getTime() + publishedAfterMs <= now.getTime();
}
