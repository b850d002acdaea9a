import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { hmac, joined } from "./digest.ts";
import { readPrivateKey } from "./ed25519-key.ts";
import { symmetricKey } from "./standard-webhooks.ts";

/** One attempt of one delivery, ready to be signed. */
export interface DeliveryToSign {
  readonly eventId: string;
  readonly eventType: string;
  /** The same for every attempt and replay to the same endpoint. */
  readonly deliveryId: string;
  /** Unix seconds of this attempt. */
  readonly timestampSeconds: number;
  readonly body: string | Uint8Array;
  /** The endpoint's secrets as shown, `whsec_…`, newest first: more than one while rotations overlap. */
  readonly secrets: readonly string[];
  /** Private keys `whsk_…`, newest first, for endpoints with `v1a`. */
  readonly privateKeys?: readonly string[];
  /** Additional signatures in other senders' formats, for receivers that use those senders' libraries. */
  readonly extraFormats?: readonly ("stripe" | "github")[];
}

/**
 * Creates the headers of a delivery (CONTRACT §6) in both families: the specification's `X-*`, keyed with the text of
 * the secret as shown, and Standard Webhooks, keyed with the bytes that the text encodes.
 * @throws RangeError for a secret that is no `whsec_` secret: no delivery is better than one that cannot be verified
 */
export function deliveryHeaders(delivery: DeliveryToSign): Record<string, string> {
  const { eventId, eventType, deliveryId, timestampSeconds, body, secrets } = delivery;
  const { privateKeys = [], extraFormats = [] } = delivery;
  const [secret, previousSecret] = secrets;
  if (secret === undefined) throw new RangeError("The endpoint has no secret");
  const signatures = secrets.map((one) => standardSignature(delivery, one));
  for (const privateKey of privateKeys) signatures.push(asymmetricSignature(delivery, privateKey));
  const headers: Record<string, string> = {
    "X-Event-Type": headerText(eventType),
    "X-Delivery-Id": deliveryId,
    "X-Timestamp": String(timestampSeconds),
    "X-Signature": plainSignature(timestampSeconds, body, secret),
    "webhook-id": eventId,
    "webhook-timestamp": String(timestampSeconds),
    "webhook-signature": signatures.join(" "),
  };
  if (previousSecret !== undefined)
    headers["X-Signature-Previous"] = plainSignature(timestampSeconds, body, previousSecret);
  if (extraFormats.includes("stripe")) headers["Stripe-Signature"] = stripeSignature(delivery);
  if (extraFormats.includes("github")) headers["X-Hub-Signature-256"] = githubSignature(body, secret);
  return headers;
}

/** Percent-encodes what no header takes, as CloudEvents over HTTP does (§3.1.3.2). */
const headerText = (text: string): string => text.replace(/[^!#$&-~]/gu, encodeURIComponent);

/** Signs like Stripe: the key is the text of the secret, and every live secret adds a `v1`. */
function stripeSignature({ timestampSeconds, body, secrets }: DeliveryToSign): string {
  const digests = secrets.map((secret) => hmac("sha256", secret, `${timestampSeconds}.`, body).toString("hex"));
  return [`t=${timestampSeconds}`, ...digests.map((digest) => `v1=${digest}`)].join(",");
}

/** Signs like GitHub: over the body alone, with the newest secret. */
function githubSignature(body: string | Uint8Array, secret: string): string {
  return `sha256=${hmac("sha256", secret, body).toString("hex")}`;
}

/** Creates the secret of an endpoint: `whsec_` and 32 random bytes in base 64. */
export function createEndpointSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

/** Creates an Ed25519 key pair: `whsk_` with seed and public key, and `whpk_` with the public key, in base 64. */
export function createSigningKey(): { readonly privateKey: string; readonly publicKey: string } {
  const { d = "", x = "" } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  const [seed, open] = [Buffer.from(d, "base64url"), Buffer.from(x, "base64url")];
  return {
    privateKey: `whsk_${Buffer.concat([seed, open]).toString("base64")}`,
    publicKey: `whpk_${open.toString("base64")}`,
  };
}

function plainSignature(timestampSeconds: number, body: string | Uint8Array, secret: string): string {
  return `sha256=${hmac("sha256", secret, `${timestampSeconds}.`, body).toString("hex")}`;
}

function standardSignature({ eventId, timestampSeconds, body }: DeliveryToSign, secret: string): string {
  const key = symmetricKey(secret);
  if (!key) throw new RangeError("The endpoint's secret is not a valid whsec_ secret");
  return `v1,${hmac("sha256", key, `${eventId}.${timestampSeconds}.`, body).toString("base64")}`;
}

function asymmetricSignature({ eventId, timestampSeconds, body }: DeliveryToSign, privateKey: string): string {
  const key = readPrivateKey(privateKey);
  if (!key) throw new RangeError("The signing key is not a valid whsk_ key");
  const message = joined([`${eventId}.${timestampSeconds}.`, body]);
  return `v1a,${sign(null, message, key).toString("base64")}`;
}
