import { createHmac, randomUUID } from "node:crypto";
import type { Preset } from "@signalbox/webhook-signatures";

/**
 * Signs as the partners of the tests do: written from their documentation with node:crypto alone, without our library.
 */

export interface Webhook {
  readonly headers: Record<string, string>;
  readonly body: string | Buffer;
}

interface Content {
  readonly id?: string;
  readonly type?: string;
  readonly body?: string | Buffer;
  /** Seconds between now and the signed time. */
  readonly ageSeconds?: number;
}

const sha256 = (key: string | Buffer, ...parts: (string | Buffer)[]) => {
  const digest = createHmac("sha256", key);
  for (const part of parts) digest.update(part);
  return digest.digest();
};
const json = { "content-type": "application/json" };

const keyBytes = Buffer.alloc(32, 9);
export const secrets = {
  "standard-webhooks": `whsec_${keyBytes.toString("base64")}`,
  stripe: "whsec_stripe_test_secret",
  github: "It's a Secret to Everybody",
  slack: "8f742231b10e8888abcd99yyyzzz85a5",
  shopify: "the secret of a shop",
  hmac: "hmac secret, as it is typed",
} as const;
export type Scheme = keyof typeof secrets;
export const schemes = Object.keys(secrets) as Scheme[];

/** Creates a webhook of the scheme, signed with the secret above. */
export function sign(scheme: Scheme, content: Content = {}): Webhook {
  const { id = randomUUID(), type = "order.created", ageSeconds = 0 } = content;
  const time = String(Math.floor(Date.now() / 1000) - ageSeconds);
  const body = content.body ?? JSON.stringify(payloadOf(scheme, id, type));
  const secret = secrets[scheme];
  switch (scheme) {
    case "standard-webhooks": {
      const signature = `v1,${sha256(keyBytes, `${id}.${time}.`, body).toString("base64")}`;
      return {
        body,
        headers: { ...json, "webhook-id": id, "webhook-timestamp": time, "webhook-signature": signature },
      };
    }
    case "stripe": {
      const signature = `t=${time},v1=${sha256(secret, `${time}.`, body).toString("hex")}`;
      return { body, headers: { ...json, "stripe-signature": signature } };
    }
    case "github": {
      const signature = `sha256=${sha256(secret, body).toString("hex")}`;
      const names = { "x-github-delivery": id, "x-github-event": type };
      return { body, headers: { ...json, ...names, "x-hub-signature-256": signature } };
    }
    case "slack": {
      const signature = `v0=${sha256(secret, `v0:${time}:`, body).toString("hex")}`;
      return { body, headers: { ...json, "x-slack-request-timestamp": time, "x-slack-signature": signature } };
    }
    case "shopify": {
      const names = { "x-shopify-webhook-id": id, "x-shopify-topic": type };
      return { body, headers: { ...json, ...names, "x-shopify-hmac-sha256": sha256(secret, body).toString("base64") } };
    }
    case "hmac": {
      const signature = `sha256=${sha256(secret, `${time}.`, body).toString("hex")}`;
      const names = { "x-delivery-id": id, "x-event-type": type, "x-timestamp": time };
      return { body, headers: { ...json, ...names, "x-signature": signature } };
    }
  }
}

/** Signs a body as a preset of the scheme `hmac` says, at a time in seconds where it signs one. */
export function signedAs(
  { settings }: { readonly settings: Partial<Preset["settings"]> },
  secret: string,
  body: string,
  time = "",
): Webhook {
  const { signedContent = "{body}", signatureHeader = "", signaturePrefix = "", pairs, encoding = "hex" } = settings;
  const content = signedContent.replace("{timestamp}", time).replace("{body}", body);
  const signature = createHmac(settings.algorithm ?? "sha256", secret)
    .update(content)
    .digest(encoding);
  const value = pairs
    ? `${pairs.timeKey}=${time},${pairs.signatureKey}=${signature}`
    : `${signaturePrefix}${signature}`;
  const { timestampHeader = "x-timestamp" } = settings;
  return { body, headers: { ...json, [signatureHeader]: value, ...(time && { [timestampHeader]: time }) } };
}

function payloadOf(scheme: Scheme, id: string, type: string): object {
  return scheme === "slack" ? { event_id: id, event: { type } } : { id, type, amount: 1 };
}
