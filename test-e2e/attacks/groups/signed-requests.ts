import { createHmac, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** A request of a partner. */
export interface SignedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The parts of a signature; each may differ from the honest one. */
export interface Signing {
  readonly secret: string;
  readonly id: string;
  readonly seconds: string;
  readonly body: Buffer;
}

/** The way that partners of one scheme sign. Written from their documentation, without our own code. */
export interface PartnerScheme {
  readonly name: string;
  /** Settings of the source. */
  readonly source: { readonly scheme: string; readonly settings?: Readonly<Record<string, unknown>> };
  readonly newSecret: () => string;
  readonly signatureHeader: string;
  /** Header of the time; null when the time stands beside the signature, or is not signed. */
  readonly timeHeader: string | null;
  readonly signsTime: boolean;
  /** Headers of the delivery's id and type; they are signed when `signsId` is true. */
  readonly idHeader: string | null;
  readonly typeHeader: string | null;
  readonly signsId: boolean;
  /** True when a secret is sent and nothing is signed. */
  readonly signsNothing?: true;
  readonly sign: (signing: Signing) => SignedRequest["headers"];
}

const text = () => `secret ${randomBytes(16).toString("hex")}`;
const digest = (
  secret: string | Buffer,
  parts: readonly (string | Buffer)[],
  encoding: "hex" | "base64",
  hash = "sha256",
) => parts.reduce((hmac, part) => hmac.update(part), createHmac(hash, secret)).digest(encoding);
const json = { "content-type": "application/json" };

const fixed: readonly PartnerScheme[] = [
  {
    name: "standard-webhooks",
    source: { scheme: "standard-webhooks" },
    signatureHeader: "webhook-signature",
    timeHeader: "webhook-timestamp",
    idHeader: "webhook-id",
    typeHeader: null,
    signsTime: true,
    signsId: true,
    newSecret: () => `whsec_${randomBytes(24).toString("base64")}`,
    sign: ({ secret, id, seconds, body }) => {
      const key = Buffer.from(secret.replace("whsec_", ""), "base64");
      const signature = `v1,${digest(key, [`${id}.${seconds}.`, body], "base64")}`;
      return { ...json, "webhook-id": id, "webhook-timestamp": seconds, "webhook-signature": signature };
    },
  },
  {
    name: "stripe",
    source: { scheme: "stripe" },
    signatureHeader: "stripe-signature",
    timeHeader: null,
    idHeader: null,
    typeHeader: null,
    signsTime: true,
    signsId: true,
    newSecret: text,
    sign: ({ secret, seconds, body }) => ({
      ...json,
      "stripe-signature": `t=${seconds},v1=${digest(secret, [`${seconds}.`, body], "hex")}`,
    }),
  },
  {
    name: "github",
    source: { scheme: "github" },
    signatureHeader: "x-hub-signature-256",
    timeHeader: null,
    idHeader: "x-github-delivery",
    typeHeader: "x-github-event",
    signsTime: false,
    signsId: false,
    newSecret: text,
    sign: ({ secret, id, body }) => ({
      ...json,
      "x-hub-signature-256": `sha256=${digest(secret, [body], "hex")}`,
      "x-github-delivery": id,
      "x-github-event": "push",
    }),
  },
  {
    name: "slack",
    source: { scheme: "slack" },
    signatureHeader: "x-slack-signature",
    timeHeader: "x-slack-request-timestamp",
    idHeader: null,
    typeHeader: null,
    signsTime: true,
    signsId: true,
    newSecret: text,
    sign: ({ secret, seconds, body }) => ({
      ...json,
      "x-slack-request-timestamp": seconds,
      "x-slack-signature": `v0=${digest(secret, [`v0:${seconds}:`, body], "hex")}`,
    }),
  },
  {
    name: "shopify",
    source: { scheme: "shopify" },
    signatureHeader: "x-shopify-hmac-sha256",
    timeHeader: null,
    idHeader: "x-shopify-webhook-id",
    typeHeader: "x-shopify-topic",
    signsTime: false,
    signsId: false,
    newSecret: text,
    sign: ({ secret, id, body }) => ({
      ...json,
      "x-shopify-hmac-sha256": digest(secret, [body], "base64"),
      "x-shopify-webhook-id": id,
      "x-shopify-topic": "orders/create",
    }),
  },
];

const timeSettings = {
  header: {},
  pairs: { pairs: { time_key: "t", signature_key: "v1" } },
  none: { signed_content: "{body}" },
};

/** The configurable scheme, in every combination that changes the signed content. */
function hmacScheme(
  algorithm: "sha256" | "sha512",
  encoding: "hex" | "base64",
  time: "header" | "pairs" | "none",
): PartnerScheme {
  return {
    name: `hmac ${algorithm} ${encoding} ${time}`,
    source: { scheme: "hmac", settings: { algorithm, encoding, signature_prefix: "p=", ...timeSettings[time] } },
    newSecret: text,
    signatureHeader: "x-signature",
    timeHeader: time === "header" ? "x-timestamp" : null,
    signsTime: time !== "none",
    idHeader: "x-delivery-id",
    typeHeader: "x-event-type",
    signsId: false,
    sign: ({ secret, id, seconds, body }) => {
      const start = time === "none" ? "" : `${seconds}.`;
      const signature = digest(secret, [start, body], encoding, algorithm);
      const carried = time === "pairs" ? `t=${seconds},v1=${signature}` : `p=${signature}`;
      const headers = { ...json, "x-signature": carried, "x-delivery-id": id, "x-event-type": "order.created" };
      return time === "header" ? { ...headers, "x-timestamp": seconds } : headers;
    },
  };
}

/** A scheme whose signature covers every part of a request. */
const everything: PartnerScheme = {
  name: "hmac over everything",
  source: {
    scheme: "hmac",
    settings: { signed_content: "{method} {header:x-event-type} {id} {timestamp} {body}", time_unit: "ms" },
  },
  newSecret: text,
  signatureHeader: "x-signature",
  timeHeader: "x-timestamp",
  signsTime: true,
  idHeader: "x-delivery-id",
  typeHeader: null,
  signsId: true,
  sign: ({ secret, id, seconds, body }) => {
    const type = "order.created";
    const time = `${seconds}000`;
    const signature = digest(secret, [`POST ${type} ${id} ${time} `, body], "hex");
    const headers = { ...json, "x-delivery-id": id, "x-event-type": type, "x-timestamp": time };
    return { ...headers, "x-signature": `sha256=${signature}` };
  },
};

/** The private keys of the partners, by the public keys of their sources. */
const privateKeys = new Map<string, KeyObject>();
function newPublicKey(): string {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const text = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url").toString("hex");
  privateKeys.set(text, privateKey);
  return text;
}

const curve: PartnerScheme = {
  name: "ed25519",
  source: { scheme: "ed25519" },
  newSecret: newPublicKey,
  signatureHeader: "x-signature-ed25519",
  timeHeader: "x-signature-timestamp",
  signsTime: true,
  idHeader: "x-delivery-id",
  typeHeader: "x-event-type",
  signsId: false,
  sign: ({ secret, id, seconds, body }) => {
    const key = privateKeys.get(secret) ?? generateKeyPairSync("ed25519").privateKey;
    const signature = sign(null, Buffer.concat([Buffer.from(seconds), body]), key).toString("hex");
    const names = { "x-delivery-id": id, "x-event-type": "order.created" };
    return { ...json, ...names, "x-signature-timestamp": seconds, "x-signature-ed25519": signature };
  },
};

const token: PartnerScheme = {
  name: "token",
  source: {
    scheme: "token",
    settings: {
      token_header: "X-Partner",
      token_format: "plain",
      delivery_id_from: { header: "x-delivery-id" },
      event_type_from: { header: "x-event-type" },
    },
  },
  newSecret: () => randomBytes(24).toString("hex"),
  signatureHeader: "x-partner",
  timeHeader: null,
  signsTime: false,
  idHeader: "x-delivery-id",
  typeHeader: "x-event-type",
  signsId: false,
  signsNothing: true,
  sign: ({ secret, id }) => ({
    ...json,
    "x-partner": secret,
    "x-delivery-id": id,
    "x-event-type": "order.created",
  }),
};

export const partnerSchemes: readonly PartnerScheme[] = [
  ...fixed,
  ...[everything, curve, token],
  ...(["sha256", "sha512"] as const).flatMap((algorithm) =>
    (["hex", "base64"] as const).flatMap((encoding) =>
      (["header", "pairs", "none"] as const).map((time) => hmacScheme(algorithm, encoding, time)),
    ),
  ),
];

/** The request that a partner sends right now. */
export function honestSigning(secret: string): Signing {
  const id = `evt_${randomBytes(8).toString("hex")}`;
  const body = Buffer.from(JSON.stringify({ id, type: "order.created", event_id: id, amount: 100, text: "Grüße" }));
  return { secret, id, seconds: String(Math.floor(Date.now() / 1000)), body };
}

export const signed = (scheme: PartnerScheme, signing: Signing): SignedRequest => ({
  headers: scheme.sign(signing),
  body: signing.body,
});
