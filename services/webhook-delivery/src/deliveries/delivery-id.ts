import { hash } from "node:crypto";
import { timeOfPublicId } from "@signalbox/core";

const prefix = "whd_";
const crockford = "0123456789abcdefghjkmnpqrstvwxyz";
const timeMsMax = Date.UTC(9999, 0);

/** Makes the id of a delivery: the same for the same pair, so that there is one, with the time that finds the row. */
export function deliveryIdOf(eventId: string, eventTime: Date, endpointId: string): string {
  const digest = hash("sha256", `${eventId}\n${endpointId}`, "buffer");
  const ofDigest = (from: number) => base32(digest.readUIntBE(from, 5), 8);
  // As an id of `newId`: ten digits for the 48 bits of the time, twice eight for 80 bits of a digest.
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
  const ms = deliveryId.startsWith(prefix) ? timeOfPublicId(deliveryId) : null;
  return ms !== null && ms < timeMsMax ? new Date(ms) : null;
}
