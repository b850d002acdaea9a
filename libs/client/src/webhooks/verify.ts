import { type DeliveryHeaders, readSigned, type SignedDelivery } from "./signed-delivery.ts";
import { resolveKeys, type Secret, secretBytes, type VerificationKeys } from "./verification-keys.ts";
import type { WebhookEvent } from "./webhook-event.ts";
import { WebhookVerificationError } from "./webhook-verification-error.ts";

/** The body as it came: bytes, or the text they are in UTF-8. Never a parsed object. */
export type RawBody = string | Uint8Array | ArrayBuffer;

export interface VerifyOptions {
  /** Largest difference between the signed time and now, both ways. Default: 300. */
  readonly toleranceSeconds?: number;
  /** Milliseconds since 1970, for tests. Default: the clock of the machine. */
  readonly now?: number;
}

/** Facts that the signature proves. */
export interface VerifiedDelivery {
  /** `webhook-id`, the id of the event; null where `X-Signature` alone was there, which does not sign it. */
  readonly id: string | null;
  readonly sentAt: Date;
}

/**
 * Verifies a delivery and returns its event. `secrets` are the endpoint's secret, several while a rotation overlaps,
 * or public keys for `v1a`. Types of your own are declared to the compiler by the parameter:
 * `verify<{ "order.created": Order }>(…)`.
 * @throws WebhookVerificationError with a stable `code`; answer 400 and do nothing else
 */
export async function verify<Custom = unknown>(
  rawBody: RawBody,
  headers: DeliveryHeaders,
  secrets: Secret | readonly Secret[],
  options: VerifyOptions = {},
): Promise<WebhookEvent<Custom>> {
  const body = bytesOf(rawBody);
  await verifyBytes(body, headers, secrets, options);
  return readEvent(body) as WebhookEvent<Custom>;
}

/**
 * Verifies the signature alone, of any body: also of endpoints whose `format` is not the standard one.
 * @throws WebhookVerificationError with a stable `code`
 */
export async function verifySignature(
  rawBody: RawBody,
  headers: DeliveryHeaders,
  secrets: Secret | readonly Secret[],
  options: VerifyOptions = {},
): Promise<VerifiedDelivery> {
  return verifyBytes(bytesOf(rawBody), headers, secrets, options);
}

async function verifyBytes(
  body: Uint8Array<ArrayBuffer>,
  headers: DeliveryHeaders,
  secrets: Secret | readonly Secret[],
  { toleranceSeconds = 300, now = Date.now() }: VerifyOptions,
): Promise<VerifiedDelivery> {
  const delivery = readSigned(headers);
  const given = Array.isArray(secrets) ? (secrets as readonly Secret[]) : [secrets as Secret];
  const message = concat(new TextEncoder().encode(delivery.start), body);
  let fits = await fitsAny(delivery, message, await resolveKeys(given, now, false));
  // A rotation may have added a key since the keys were read.
  if (!fits && given.some((one) => typeof one === "function"))
    fits = await fitsAny(delivery, message, await resolveKeys(given, now, true));
  if (!fits) throw new WebhookVerificationError("signature_mismatch");
  // After the signature: before it, the time is anybody's claim.
  const ageSeconds = Math.floor(now / 1000) - delivery.timestampSeconds;
  if (ageSeconds > toleranceSeconds) throw new WebhookVerificationError("timestamp_too_old");
  if (-ageSeconds > toleranceSeconds) throw new WebhookVerificationError("timestamp_in_future");
  return { id: delivery.id, sentAt: new Date(delivery.timestampSeconds * 1000) };
}

async function fitsAny(
  { form, hmacs, ed25519s }: SignedDelivery,
  message: Uint8Array<ArrayBuffer>,
  { secrets, publicKeys }: VerificationKeys,
): Promise<boolean> {
  const usableKeys = form === "standard" ? publicKeys : [];
  if (secrets.length + usableKeys.length === 0) throw new WebhookVerificationError("secret_unusable");
  if ((secrets.length === 0 || hmacs.length === 0) && (usableKeys.length === 0 || ed25519s.length === 0))
    throw new WebhookVerificationError("signature_missing");
  // `verify` of WebCrypto compares in constant time. All pairs are tried, so that the time reveals only their number.
  const verdicts: boolean[] = [];
  for (const secret of hmacs.length > 0 ? secrets : []) {
    const bytes = form === "standard" ? secretBytes(secret) : new TextEncoder().encode(secret);
    const hmac = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", bytes as Uint8Array<ArrayBuffer>, hmac, false, ["verify"]);
    for (const digest of hmacs) verdicts.push(await crypto.subtle.verify("HMAC", key, digest, message));
  }
  for (const publicKey of ed25519s.length > 0 ? usableKeys : []) {
    const key = await crypto.subtle.importKey("raw", publicKey, "Ed25519", false, ["verify"]);
    for (const signature of ed25519s) verdicts.push(await crypto.subtle.verify("Ed25519", key, signature, message));
  }
  return verdicts.includes(true);
}

function readEvent(body: Uint8Array): unknown {
  try {
    const event = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    const texts = [event.id, event.type, event.created_at];
    if (texts.every((text) => typeof text === "string") && event.data !== undefined) return event;
  } catch (cause) {
    throw new WebhookVerificationError("body_not_event", { cause });
  }
  throw new WebhookVerificationError("body_not_event");
}

function bytesOf(body: RawBody): Uint8Array<ArrayBuffer> {
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return new Uint8Array(body);
  // Of another realm too, such as that of a test runner.
  if (Object.prototype.toString.call(body) === "[object ArrayBuffer]") return new Uint8Array(body);
  throw new WebhookVerificationError("body_not_raw");
}

function concat(start: Uint8Array, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(start.length + body.length);
  whole.set(start);
  whole.set(body, start.length);
  return whole;
}
