import { hash } from "node:crypto";

const prefix = "whd_";
const crockford = "0123456789abcdefghjkmnpqrstvwxyz";
/** Of the 26 digits of an id the first ten are the 48 bits of the time, the others 80 bits of a digest. */
const digits = 26;
const digestBits = 80n;
/** Later than any event. */
const timeMsMax = Date.UTC(9999, 0);

/**
 * Makes the id of the delivery of an event to an endpoint: the same however often it is asked for, so that the primary key
 * keeps a second one away. It begins with the time of the event, by which the row is found.
 */
export function deliveryIdOf(eventId: string, eventTime: Date, endpointId: string): string {
  const digest = hash("sha256", `${eventId}\n${endpointId}`, "hex").slice(0, 20);
  let rest = (BigInt(eventTime.getTime()) << digestBits) | BigInt(`0x${digest}`);
  let text = "";
  for (let place = 0; place < digits; place++) {
    text = crockford[Number(rest & 31n)] + text;
    rest >>= 5n;
  }
  return prefix + text;
}

/** The time of the event in the id of a delivery; null for what is no such id. */
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
