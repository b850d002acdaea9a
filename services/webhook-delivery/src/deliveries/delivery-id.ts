import { hash } from "node:crypto";

const prefix = "whd_";
const crockford = "0123456789abcdefghjkmnpqrstvwxyz";
/** The 26 digits of an id: ten for the 48 bits of the time, twice eight for 80 bits of a digest. */
const digits = 26;
const digestBits = 80n;
const timeMsMax = Date.UTC(9999, 0);

/**
 * Makes the id of the delivery of an event to an endpoint. It is always the same for the same pair, so that the primary
 * key refuses a second delivery, and it begins with the time of the event, which finds the row.
 */
export function deliveryIdOf(eventId: string, eventTime: Date, endpointId: string): string {
  const digest = hash("sha256", `${eventId}\n${endpointId}`, "buffer");
  const ofDigest = (from: number) => base32(digest.readUIntBE(from, 5), 8);
  return prefix + base32(eventTime.getTime(), 10) + ofDigest(0) + ofDigest(5);
}

/** Writes a whole number below 2^53 with so many digits. A bitwise operator would cut it to 32 bits. */
function base32(value: number, count: number): string {
  let text = "";
  for (let rest = value; text.length < count; rest = Math.floor(rest / 32)) text = crockford[rest % 32] + text;
  return text;
}

/** Returns the event's time from the id of a delivery; null for any other text. */
export function eventTimeOf(deliveryId: string): Date | null {
  const text = deliveryId.slice(prefix.length);
  if (!deliveryId.startsWith(prefix) || text.length !== digits) return null;
  let value = 0n;
  for (const digit of text) {
    const number = crockford.indexOf(digit);
    if (number < 0) return null;
    value = (value << 5n) | BigInt(number);
  }
  const ms = Number(value >> digestBits);
  return ms < timeMsMax ? new Date(ms) : null;
}
