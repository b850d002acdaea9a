import type { Preset } from "./preset.ts";

export const calendly: Preset = {
  title: "Calendly",
  documentation: "https://developer.calendly.com/api-docs/webhook-signatures",
  scheme: "hmac",
  settings: {
    signatureHeader: "calendly-webhook-signature",
    pairs: { timeKey: "t", signatureKey: "v1", separator: "," },
    signedContent: "{timestamp}.{body}",
    deliveryIdFrom: { pointer: "/payload/uri" },
    eventTypeFrom: { pointer: "/event" },
  },
  secretFrom: "the `signing_key` that you give when you create the webhook subscription",
  steps: [
    "Choose a signing key: 32 random bytes, written as text, are good.",
    "Create the source with it.",
    "Send `POST https://api.calendly.com/webhook_subscriptions` with the address of the source as `url` and the key as `signing_key`.",
  ],
  notes: [
    "Calendly sends no delivery id. The invitee's URI is used; later deliveries about the same invitee get digits of their content appended.",
  ],
  vector: {
    from: "the recipe of Calendly's documentation",
    secret: "5mEzn9C-I28UtwOjZJtFoob0sAAFZ95GbZkqj4y3i0I",
    headers: {
      "calendly-webhook-signature": "t=1492774577,v1=c995d255cc5c405648ddedf2913ac92119442517201635d124e810ec5081ca3d",
    },
    body: '{"event":"invitee.created","created_at":"2020-11-23T17:51:19.000000Z","payload":{"uri":"https://api.calendly.com/scheduled_events/AAA/invitees/BBB"}}',
    atSeconds: 1492774577,
  },
};
