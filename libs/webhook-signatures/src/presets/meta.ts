import type { Preset } from "./preset.ts";

export const meta: Preset = {
  title: "Meta",
  documentation: "https://developers.facebook.com/docs/graph-api/webhooks/getting-started",
  scheme: "hmac",
  settings: {
    signatureHeader: "x-hub-signature-256",
    previousSignatureHeader: null,
    signaturePrefix: "sha256=",
    signedContent: "{body}",
    deliveryIdFrom: "digest",
    eventTypeFrom: { pointer: "/object" },
    handshake: "meta",
  },
  secretFrom: "App Dashboard → App settings → Basic → App secret",
  steps: [
    "In the App Dashboard copy the app secret from App settings → Basic into the source.",
    "Open Webhooks, choose the object and Subscribe to this object.",
    "Enter the address of the source as callback URL and the source's verify token, then pick the fields.",
  ],
  notes: ["Facebook, Instagram, Messenger and WhatsApp sign alike. The source answers Meta's `hub.challenge`."],
  vector: {
    from: "the recipe of Meta's documentation",
    secret: "an app secret of a meta app",
    headers: { "x-hub-signature-256": "sha256=d572796ec508ae5dea023f01556a69b57106e07acd83ff003a0ac96990e48580" },
    body: '{"object":"page","entry":[{"id":"0","time":1700000000}]}',
    atSeconds: 1700000000,
  },
};
