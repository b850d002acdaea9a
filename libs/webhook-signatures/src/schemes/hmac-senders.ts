import { optionalHeader, unsignedHeader } from "./header-value.ts";
import { createHmacScheme } from "./hmac-scheme.ts";
import { signedMember } from "./payload-member.ts";
import { stripePairs } from "./signature-pairs.ts";
import type { SignatureScheme, ValuePlace } from "./signature-scheme.ts";
import { textSecretProblem } from "./text-secret.ts";

/** The signature of each of these senders covers the whole body and no header but its time. */
const covers = (place: ValuePlace): boolean => "pointer" in place;

/** Stripe: `Stripe-Signature: t=…,v1=…[,v1=…]`, hex HMAC-SHA256 over `t.body` with the whole secret text as key. */
export const stripe: SignatureScheme = {
  signsTime: true,
  secretProblem: textSecretProblem,
  covers,
  verify: createHmacScheme({ signatureHeader: "stripe-signature", pairs: stripePairs }).verify,
  identify: (_request, payload) => ({
    deliveryId: signedMember(payload, ["id"]),
    eventType: signedMember(payload, ["type"]),
  }),
};

/** GitHub: `X-Hub-Signature-256: sha256=…`, hex HMAC-SHA256 over the body. The SHA-1 header is ignored. */
export const github: SignatureScheme = {
  readsForms: true,
  hasUnsignedId: true,
  signsTime: false,
  secretProblem: textSecretProblem,
  covers,
  verify: createHmacScheme({
    signatureHeader: "x-hub-signature-256",
    signedContent: "{body}",
    previousSignatureHeader: null,
  }).verify,
  identify: (request) => ({
    deliveryId: unsignedHeader(request, "x-github-delivery"),
    eventType: unsignedHeader(request, "x-github-event"),
  }),
};

/** Slack: `X-Slack-Signature: v0=…`, hex HMAC-SHA256 over `v0:timestamp:body`. */
export const slack: SignatureScheme = {
  readsForms: true,
  signsTime: true,
  secretProblem: textSecretProblem,
  covers,
  verify: createHmacScheme({
    signatureHeader: "x-slack-signature",
    signaturePrefix: "v0=",
    previousSignatureHeader: null,
    timestampHeader: "x-slack-request-timestamp",
    signedContent: "v0:{timestamp}:{body}",
  }).verify,
  identify: (_request, payload) => ({
    deliveryId: signedMember(payload, ["event_id"], ["trigger_id"]),
    eventType: signedMember(payload, ["event", "type"], ["type"], ["command"]),
  }),
  handshake: "slack",
};

/** Shopify: `X-Shopify-Hmac-Sha256`, base 64 HMAC-SHA256 over the body. */
export const shopify: SignatureScheme = {
  hasUnsignedId: true,
  signsTime: false,
  secretProblem: textSecretProblem,
  covers,
  verify: createHmacScheme({
    signatureHeader: "x-shopify-hmac-sha256",
    signaturePrefix: "",
    previousSignatureHeader: null,
    signedContent: "{body}",
    encoding: "base64",
  }).verify,
  identify(request) {
    const eventType = unsignedHeader(request, "x-shopify-topic");
    const eventId = optionalHeader(request, "x-shopify-event-id");
    // One merchant action gives the webhooks of all its topics the same event id; the id alone would drop the second
    // topic.
    const value = eventId && eventType ? `${eventId}:${eventType.value}` : eventId;
    const deliveryId = value === null ? unsignedHeader(request, "x-shopify-webhook-id") : { value, signed: false };
    return { deliveryId, eventType };
  },
};
