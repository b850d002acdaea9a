import { createHash, randomBytes, randomFillSync, randomUUID } from "node:crypto";
import { systemClock } from "./clock.ts";

const crockford = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * Creates a UUIDv7 (RFC 9562 §5.7): 48 bits of Unix milliseconds, then random bits. Later ids sort later to the
 * millisecond, which keeps the newest rows together in an index.
 */
export function uuidv7(nowMs: number = systemClock.nowMs()): string {
  return uuidText(uuidv7Bytes(nowMs));
}

/** Creates the UUIDv7 of a moment and a name: equal for equal arguments, so that a row is inserted once. */
export function namedUuidv7(nowMs: number, name: string): string {
  return uuidText(uuidv7Bytes(nowMs, createHash("sha256").update(name).digest()));
}

function uuidText(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Creates a public id such as `img_01jd…`: the prefix and the 26 base-32 characters of a UUIDv7. Opaque to clients. */
export function newId(prefix: string, nowMs: number = systemClock.nowMs()): string {
  let rest = BigInt(`0x${uuidv7Bytes(nowMs).toString("hex")}`);
  let text = "";
  for (let position = 0; position < 26; position++) {
    text = crockford[Number(rest & 31n)] + text;
    rest >>= 5n;
  }
  return `${prefix}_${text}`;
}

/** Returns the creation time of an id of `newId`, in milliseconds; null for any other text. */
export function timeOfPublicId(id: string): number | null {
  const [, text] = /^[a-z]+_([0-7][0-9a-hjkmnp-tv-z]{25})$/.exec(id) ?? [];
  if (text === undefined) return null;
  // Ten characters are fifty bits: two that are always zero, then the milliseconds.
  return Array.from(text.slice(0, 10)).reduce((ms, character) => ms * 32 + crockford.indexOf(character), 0);
}

/**
 * Creates a public id that reveals nothing, not even its creation time: the prefix and 22 base-62 characters of 128
 * random bits.
 */
export function randomId(prefix: string): string {
  return `${prefix}_${base62(randomBytes(16), 22)}`;
}

/** @param given the bytes that take the place of the random ones */
function uuidv7Bytes(nowMs: number, given?: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  if (given) given.copy(bytes, 6);
  else copyRandom(bytes, 6);
  bytes[6] = 0x70 | ((bytes[6] as number) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] as number) & 0x3f);
  return bytes;
}

/** Random bytes for some four hundred ids: asking the system for those of one takes longer than everything else. */
const random = Buffer.alloc(4_096);
let randomUsed = random.length;

/** Fills `bytes` from `start` with random bytes that are used nowhere else. */
function copyRandom(bytes: Buffer, start: number): void {
  const count = bytes.length - start;
  if (randomUsed + count > random.length) {
    randomFillSync(random);
    randomUsed = 0;
  }
  random.copy(bytes, start, randomUsed, randomUsed + count);
  randomUsed += count;
}

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Writes the bytes, read as one big-endian number, in base 62, padded with zeros to `length` characters. */
export function base62(bytes: Uint8Array, length: number): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString("hex") || "0"}`);
  let text = "";
  for (let position = 0; position < length; position++) {
    text = alphabet[Number(rest % 62n)] + text;
    rest /= 62n;
  }
  return text;
}

/** Regular expression of an id from outside that is kept: it is short and plain, because logs and answers show it. */
export const requestIdPattern = "^[A-Za-z0-9._:~+/=-]{1,128}$";
const acceptable = new RegExp(requestIdPattern);

/** Creates the id of a request: `req_` and 32 hexadecimal digits, the form that nginx can create too. */
export function newRequestId(): string {
  // A UUID is the fastest source of random bits: node creates many at once.
  return `req_${randomUUID().replaceAll("-", "")}`;
}

/** Returns the id of the request in answers, logs and traces: the caller's `X-Request-Id`, or a new one. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === "string" && acceptable.test(header) ? header : newRequestId();
}
