import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";

/** What a signature grants: one representation of one image, until then. */
export interface Grant {
  readonly imageId: string;
  /** The parameters by name, as text; the signature itself is none of them. */
  readonly parameters: ReadonlyMap<string, string>;
  /** Seconds since 1970. */
  readonly expiresAt: number;
}

export interface SigningKey {
  readonly id: string;
  readonly accountId: string;
  /** 32 random bytes. */
  readonly secret: Buffer;
}

/** A signature as it stands in a URL: `v1.<key id>.<expiry>.<HMAC-SHA256 in base64url>`. */
interface ReadSignature {
  readonly keyId: string;
  readonly expiresAt: number;
  readonly mac: Buffer;
}

/** The name of the parameter. */
export const signatureParameter = "signature";

/** Signs a grant: the value of the parameter. */
export function sign(key: SigningKey, grant: Grant): string {
  return `v1.${key.id}.${grant.expiresAt}.${macOf(key, grant).toString("base64url")}`;
}

/** Tells if the signature is that of this grant by this key, in a time that says nothing about it. */
export function isSignedBy(key: SigningKey, { mac }: ReadSignature, grant: Grant): boolean {
  return timingSafeEqual(mac, macOf(key, grant));
}

/** Reads a signature; null for what cannot be one. There is one way to write each. */
export function readSignature(text: string): ReadSignature | null {
  const [, keyId, expiry, encoded] = /^v1\.([\w-]{1,64})\.([1-9]\d{0,11})\.([\w-]{43})$/.exec(text) ?? [];
  if (keyId === undefined || expiry === undefined || encoded === undefined) return null;
  const mac = Buffer.from(encoded, "base64url");
  // The last character has bits that decoding drops.
  return mac.toString("base64url") === encoded ? { keyId, expiresAt: Number(expiry), mac } : null;
}

/** Method, path and parameters in the order of their names, with who signed and until when; no part can flow into another. */
function macOf({ id, secret }: SigningKey, { imageId, parameters, expiresAt }: Grant): Buffer {
  const lines = ["v1", id, expiresAt, "GET", `/images/${imageId}/content`, queryOf(parameters)];
  // Of bytes Node finds out by an exception that they are no key, which takes longer than the digest.
  return createHmac("sha256", createSecretKey(secret)).update(lines.join("\n")).digest();
}

/** The parameters as a query, always in the same order. */
export function queryOf(parameters: ReadonlyMap<string, string>): string {
  return [...parameters]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join("&");
}

/** Seconds. */
const windows = [10, 60, 300, 900, 3_600, 21_600, 86_400];

/**
 * When a URL that is to live for so long ends: at the end of a window of at most a quarter of that, never earlier than
 * asked. All that is signed within a window is the same URL, so that caches share it.
 */
export function expiryOf(nowMs: number, livesSeconds: number): number {
  const window = windows.findLast((one) => one <= livesSeconds / 4) ?? 1;
  return Math.ceil((nowMs / 1000 + livesSeconds) / window) * window;
}
