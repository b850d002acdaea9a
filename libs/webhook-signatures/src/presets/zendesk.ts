import type { Preset } from "./preset.ts";

export const zendesk: Preset = {
  title: "Zendesk",
  documentation: "https://developer.zendesk.com/documentation/webhooks/verifying/",
  scheme: "hmac",
  settings: {
    signatureHeader: "x-zendesk-webhook-signature",
    previousSignatureHeader: null,
    signaturePrefix: "",
    timestampHeader: "x-zendesk-webhook-signature-timestamp",
    timeUnit: "rfc3339",
    signedContent: "{timestamp}{body}",
    encoding: "base64",
    deliveryIdFrom: { header: "x-zendesk-webhook-invocation-id" },
    eventTypeFrom: { pointer: "/type" },
    forwardedHeaders: ["x-zendesk-account-id", "x-zendesk-webhook-id"],
  },
  secretFrom: "Admin Center → Apps and integrations → Webhooks → the webhook → Reveal secret",
  steps: [
    "In the Admin Center open Apps and integrations → Webhooks and choose Create webhook.",
    "Enter the address of the source as endpoint URL, the method POST and the format JSON.",
    "Create it, choose Reveal secret and rotate the source's secret to it.",
  ],
  notes: [
    "Webhooks of triggers and automations have the body that you write for them; only those of events have a type.",
  ],
  vector: {
    from: "the recipe of Zendesk's documentation with the secret that it publishes for tests",
    secret: "dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==",
    headers: {
      "x-zendesk-webhook-signature-timestamp": "2021-07-25T10:00:00Z",
      "x-zendesk-webhook-signature": "gf3v0LzLRHPUnIdhbvwRDVEvzSb07/QN0GYjSNlkBT0=",
    },
    body: '{"say": "hello"}',
    atSeconds: 1627207200,
  },
};
