import { hash } from "node:crypto";

/** Into so many parts accounts are split: a thousandth of a percent each. */
export const buckets = 100_000;

const radix = 2 ** 32 % buckets;

/**
 * The bucket of a targeting key: the first eight bytes of SHA-256 over the salt, a zero byte and the key, in UTF-8, as an
 * unsigned number, big end first, modulo 100,000. The same everywhere and for ever: docs/reference/flag-buckets.json.
 */
export function bucketOf(salt: string, targetingKey: string): number {
  const digest = hash("sha256", `${salt}\u0000${targetingKey}`, "buffer");
  const [high, low] = [digest.readUInt32BE(0), digest.readUInt32BE(4)];
  return ((high % buckets) * radix + (low % buckets)) % buckets;
}

/** Tells if a bucket is in the first `percentage` of all: raising it only adds buckets. */
export function isWithin(bucket: number, percentage: number): boolean {
  // A thousandth of a percent is one bucket; rounded, because 4.35 × 1000 is a little less than 4,350.
  return bucket < Math.round(percentage * (buckets / 100));
}
