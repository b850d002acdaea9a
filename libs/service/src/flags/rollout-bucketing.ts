import { hash } from "node:crypto";

/** Number of parts into which accounts are split: a thousandth of a percent each. */
export const buckets = 100_000;

const radix = 2 ** 32 % buckets;

/**
 * Computes the bucket of a targeting key: the first eight bytes of SHA-256 over the salt, a zero byte and the key, in
 * UTF-8, as an unsigned big-endian number, modulo 100,000. Stable everywhere and forever:
 * docs/reference/flag-buckets.json.
 */
export function bucketOf(salt: string, targetingKey: string): number {
  // One character per byte: a Buffer would take five times as long as the hash.
  const digest = hash("sha256", `${salt}\u0000${targetingKey}`, "binary");
  return ((wordAt(digest, 0) % buckets) * radix + (wordAt(digest, 4) % buckets)) % buckets;
}

/** Reads four bytes as an unsigned big-endian number. */
function wordAt(bytes: string, at: number): number {
  const byte = (index: number) => bytes.charCodeAt(at + index);
  return byte(0) * 2 ** 24 + byte(1) * 2 ** 16 + byte(2) * 2 ** 8 + byte(3);
}

/** Returns true when a bucket is in the first `percentage` of all: raising it only adds buckets. */
export function isWithin(bucket: number, percentage: number): boolean {
  // A thousandth of a percent is one bucket; rounded, because 4.35 × 1000 is a little less than 4,350.
  return bucket < Math.round(percentage * (buckets / 100));
}
