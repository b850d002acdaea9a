import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";

/** The content of a signature: a path that may be read with these parameters, until an expiry. */
export interface Grant {
  /** As in the URL: `/images/img_5Yb0cPq7TnV2sKxW9mRdLh/content`. */
  readonly path: string;
  /** The parameters by name, as text, without the signature itself. */
  readonly parameters: ReadonlyMap<string, string>;
  /** Seconds since 1970. */
  readonly expiresAt: number;
}

interface SigningKey {
  readonly id: string;
  /** 32 random bytes. */
  readonly secret: Buffer;
}

/** A signature in a URL: `v1.<key id>.<expiry>.<HMAC-SHA256 in base64url>`. */
interface ReadSignature {
  readonly keyId: string;
  readonly expiresAt: number;
  readonly mac: Buffer;
}

/** The name of the parameter. */
export const signatureParameter = "signature";

/** Signs a grant and returns the value of the parameter. */
export function signGrant(key: SigningKey, grant: Grant): string {
  return `v1.${key.id}.${grant.expiresAt}.${macOf(key, grant).toString("base64url")}`;
}

/** Returns true when the signature is that of this grant by this key, in constant time. */
export function isSignedBy(key: SigningKey, { mac }: ReadSignature, grant: Grant): boolean {
  return timingSafeEqual(mac, macOf(key, grant));
}

/** Parses a signature; null for malformed text. Each signature has exactly one spelling. */
export function readSignature(text: string): ReadSignature | null {
  const [, keyId, expiry, encoded] = /^v1\.([\w-]{1,64})\.([1-9]\d{0,11})\.([\w-]{43})$/.exec(text) ?? [];
  if (keyId === undefined || expiry === undefined || encoded === undefined) return null;
  const mac = Buffer.from(encoded, "base64url");
  // Decoding drops bits of the last character.
  return mac.toString("base64url") === encoded ? { keyId, expiresAt: Number(expiry), mac } : null;
}

/**
 * Computes the MAC of method, path and parameters in the order of their names, with key and expiry; no part can flow
 * into another.
 */
function macOf({ id, secret }: SigningKey, { path, parameters, expiresAt }: Grant): Buffer {
  const lines = ["v1", id, expiresAt, "GET", path, queryOf(parameters)];
  // For plain bytes Node throws and catches an exception before it uses them as a key, which takes longer than the
  // digest.
  return createHmac("sha256", createSecretKey(secret)).update(lines.join("\n")).digest();
}

/** Builds the query of the parameters, always in the same order. */
export function queryOf(parameters: ReadonlyMap<string, string>): string {
  return [...parameters]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join("&");
}

/** Seconds. */
const windows = [10, 60, 300, 900, 3_600, 21_600, 86_400];

/**
 * Computes the expiry of a URL with this lifetime: the end of a window of at most a quarter of it, never earlier than
 * requested. Everything signed within a window has the same URL, so that caches share it.
 */
export function expiryOf(nowMs: number, livesSeconds: number): number {
  const window = windows.findLast((one) => one <= livesSeconds / 4) ?? 1;
  return Math.ceil((nowMs / 1000 + livesSeconds) / window) * window;
}
