import { type WebhookProblem, WebhookVerificationError } from "./webhook-verification-error.ts";

/** Headers as a `Headers` object, or as Node, Express, Fastify and Lambda have them; the case of names is ignored. */
export type DeliveryHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The signature data of one delivery, as its headers have it. */
export interface SignedDelivery {
  /** Standard Webhooks, which sign the id too; or `X-Signature`, over time and body. */
  readonly form: "standard" | "plain";
  /** Null in the plain form, which does not sign it. */
  readonly id: string | null;
  readonly timestampSeconds: number;
  /** The signed text before the body. */
  readonly start: string;
  readonly hmacs: readonly Uint8Array<ArrayBuffer>[];
  readonly ed25519s: readonly Uint8Array<ArrayBuffer>[];
}

/** More than any rotation needs: each signature costs a digest or a curve operation. */
const signaturesMax = 20;

/**
 * Reads the headers of a delivery. Where Standard Webhooks' header is there it alone decides, so that nobody can choose
 * the weaker form by adding to a request.
 * @throws WebhookVerificationError with the header that is missing or malformed
 */
export function readSigned(headers: DeliveryHeaders): SignedDelivery {
  const standard = headerOf(headers, "webhook-signature");
  return standard === null ? readPlain(headers) : readStandard(headers, standard);
}

function readStandard(headers: DeliveryHeaders, signatures: string): SignedDelivery {
  const id = headerOf(headers, "webhook-id") ?? refuse("delivery_id_missing");
  const [timestamp, timestampSeconds] = readTime(headers, "webhook-timestamp");
  const entries = signatures.split(" ", signaturesMax);
  const hmacs = valuesOf(entries, "v1,", 32);
  const ed25519s = valuesOf(entries, "v1a,", 64);
  if (hmacs.length + ed25519s.length === 0) refuse("signature_malformed");
  return { form: "standard", id, timestampSeconds, start: `${id}.${timestamp}.`, hmacs, ed25519s };
}

function readPlain(headers: DeliveryHeaders): SignedDelivery {
  const newest = headerOf(headers, "x-signature") ?? refuse("signature_missing");
  const previous = headerOf(headers, "x-signature-previous");
  const [timestamp, timestampSeconds] = readTime(headers, "x-timestamp");
  const hmacs = [newest, previous].map(readHexDigest).filter((digest) => digest !== null);
  if (hmacs.length === 0) refuse("signature_malformed");
  return { form: "plain", id: null, timestampSeconds, start: `${timestamp}.`, hmacs, ed25519s: [] };
}

function readTime(headers: DeliveryHeaders, name: string): [text: string, seconds: number] {
  const text = headerOf(headers, name) ?? refuse("timestamp_missing");
  // Digits only, so that one time has one spelling.
  return /^\d{1,12}$/.test(text) ? [text, Number(text)] : refuse("timestamp_malformed");
}

/** Returns the one value of a header; null for none. Of several values none is chosen. */
function headerOf(headers: DeliveryHeaders, name: string): string | null {
  if (isHeaders(headers)) return headers.get(name) || null;
  const named = Object.entries(headers).filter(([key]) => key.toLowerCase() === name);
  const values = named.flatMap(([, value]) => value ?? []).filter((value) => value !== "");
  return values.length > 1 ? refuse("header_repeated") : (values[0] ?? null);
}

/** By its method: a `Headers` of another realm or library is as good. */
const isHeaders = (headers: DeliveryHeaders): headers is Headers => typeof headers.get === "function";

function valuesOf(entries: readonly string[], version: string, bytes: number): Uint8Array<ArrayBuffer>[] {
  return entries
    .filter((entry) => entry.startsWith(version))
    .map((entry) => readBase64(entry.slice(version.length)))
    .filter((value) => value?.length === bytes) as Uint8Array<ArrayBuffer>[];
}

/** Reads standard base 64 with its padding; null for any other text, also for another spelling of the same bytes. */
export function readBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  const binary = atob(text);
  return btoa(binary) === text ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : null;
}

function readHexDigest(text: string | null): Uint8Array<ArrayBuffer> | null {
  const [, digits] = /^sha256=([0-9a-f]{64})$/.exec(text ?? "") ?? [];
  return digits === undefined ? null : Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function refuse(code: WebhookProblem): never {
  throw new WebhookVerificationError(code);
}
