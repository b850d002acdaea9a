import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";

export type DigestAlgorithm = "sha256" | "sha512" | "sha1";
export type DigestEncoding = "hex" | "base64" | "base64url";

export const digestBytes = { sha1: 20, sha256: 32, sha512: 64 } as const;

/** Computes the HMAC (RFC 2104) over the parts, one after the other. */
export function hmac(algorithm: DigestAlgorithm, key: string | Uint8Array, ...parts: (string | Uint8Array)[]): Buffer {
  // With plain bytes Node learns from an exception that they are no key object, which takes longer than the digest.
  const digest = createHmac(algorithm, typeof key === "string" ? key : createSecretKey(key));
  for (const part of parts) digest.update(part);
  return digest.digest();
}

/** Joins the pieces of a message. */
export const joined = (pieces: readonly (string | Uint8Array)[]): Buffer =>
  Buffer.concat(pieces.map((piece) => (typeof piece === "string" ? Buffer.from(piece) : piece)));

/** Reads a digest strictly: the right alphabet, padding and length. Returns null for anything else. */
export function readDigest(text: string, encoding: DigestEncoding, bytes: number): Buffer | null {
  const decoded = readers[encoding](text);
  return decoded?.length === bytes ? decoded : null;
}

/** Reads pairs of hexadecimal digits; returns null for any other text. */
export function readHex(text: string): Buffer | null {
  return text.length % 2 === 0 && /^[0-9a-fA-F]*$/.test(text) ? Buffer.from(text, "hex") : null;
}

/**
 * Reads standard base 64 with its padding (RFC 4648 §4); returns null for any other text. Node's own decoder accepts
 * almost anything.
 */
export function readBase64(text: string): Buffer | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : null;
}

/** Reads base 64 in the URL alphabet (RFC 4648 §5), with or without padding; returns null for any other text. */
function readBase64Url(text: string): Buffer | null {
  const digits = text.replace(/={0,2}$/, "");
  if (!/^[A-Za-z0-9_-]*$/.test(digits)) return null;
  const bytes = Buffer.from(digits, "base64url");
  const isPadded = text === digits || text.length % 4 === 0;
  return isPadded && bytes.toString("base64url") === digits ? bytes : null;
}

/** The strict reader of each encoding. */
export const readers: Record<DigestEncoding, (text: string) => Buffer | null> = {
  hex: readHex,
  base64: readBase64,
  base64url: readBase64Url,
};

/**
 * Returns true when any given digest equals any expected one. All pairs are compared, each in constant time, so that
 * the time reveals only their number.
 */
export function anyMatches(expected: readonly Buffer[], given: readonly Buffer[]): boolean {
  let matches = false;
  for (const right of expected) {
    for (const candidate of given) {
      if (right.length === candidate.length && timingSafeEqual(right, candidate)) matches = true;
    }
  }
  return matches;
}
