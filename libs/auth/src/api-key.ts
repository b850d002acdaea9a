import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";
import { base62 } from "@signalbox/core";

/** `sbx_<environment>_<30 base62><6 base62 of the CRC32>`: scanners can find it and check it offline. */
const shape = /^(sbx_([a-z0-9]{1,16})_[0-9A-Za-z]{30})([0-9A-Za-z]{6})$/;

export interface ParsedApiKey {
  readonly environment: string;
  /** The part that may be shown again: enough for the owner to distinguish keys. */
  readonly hint: string;
}

/** Creates a new key. Its only copy is the returned text: store the digest, show the text once. */
export function createApiKey(environment: string): string {
  // 192 random bits written in 30 base-62 digits (178 bits).
  const body = `sbx_${environment}_${base62(randomBytes(24), 30)}`;
  const key = body + checkDigits(body);
  if (!shape.test(key))
    throw new Error(`"${environment}" cannot be part of an API key: use 1–16 characters of a–z and 0–9`);
  return key;
}

/** Parses a key with correct check digits; null for anything else, so that a typing error costs no look-up. */
export function parseApiKey(text: string): ParsedApiKey | null {
  const [, body, environment, digits] = shape.exec(text) ?? [];
  if (body === undefined || environment === undefined || digits !== checkDigits(body)) return null;
  return { environment, hint: body.slice(0, `sbx_${environment}_`.length + 4) };
}

/** Returns true for a text with the prefix of an API key, valid or not. */
export const looksLikeApiKey = (text: string): boolean => text.startsWith("sbx_");

/** Computes the digest that is stored. One fast hash is enough: a key has too much entropy to be searched for. */
export function digestApiKey(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

/** Compares two digests in constant time. */
export function sameDigest(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}

function checkDigits(body: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(body));
  return base62(bytes, 6);
}
