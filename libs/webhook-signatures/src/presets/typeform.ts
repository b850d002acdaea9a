import type { Preset } from "./preset.ts";

export const typeform: Preset = {
  title: "Typeform",
  documentation: "https://www.typeform.com/developers/webhooks/secure-your-webhooks/",
  scheme: "hmac",
  settings: {
    signatureHeader: "typeform-signature",
    previousSignatureHeader: null,
    signaturePrefix: "sha256=",
    signedContent: "{body}",
    encoding: "base64",
    deliveryIdFrom: { pointer: "/event_id" },
    eventTypeFrom: { pointer: "/event_type" },
  },
  secretFrom: "the form → Connect → Webhooks → the webhook → Secret",
  steps: [
    "In Typeform open the form, Connect, Webhooks, and add a webhook with the address of the source.",
    "Edit the webhook, enter a secret of your choice and give the source the same one.",
    "Switch the webhook on and send a test request.",
  ],
  notes: [],
  vector: {
    from: "the recipe of Typeform's documentation",
    secret: "a typeform secret",
    headers: { "typeform-signature": "sha256=Z0vZYureF8aZH3e2kMRcZKDNPpufStYmkJ2ZsGJzuGA=" },
    body: '{"event_id":"LtWXD3crgy","event_type":"form_response","form_response":{"form_id":"lT4Z3j"}}',
    atSeconds: 1700000000,
  },
};
