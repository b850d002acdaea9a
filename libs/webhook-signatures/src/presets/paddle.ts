import type { Preset } from "./preset.ts";

export const paddle: Preset = {
  title: "Paddle",
  documentation: "https://developer.paddle.com/webhooks/signature-verification",
  scheme: "hmac",
  settings: {
    signatureHeader: "paddle-signature",
    pairs: { timeKey: "ts", signatureKey: "h1", separator: ";" },
    signedContent: "{timestamp}:{body}",
    deliveryIdFrom: { pointer: "/notification_id" },
    eventTypeFrom: { pointer: "/event_type" },
  },
  secretFrom: "Developer tools → Notifications → the destination → Secret key (`pdl_ntfset_…`)",
  steps: [
    "In Paddle open Developer tools → Notifications and choose New destination.",
    "Choose Webhook, enter the address of the source as URL and pick the events.",
    "Save, open the destination again and copy its secret key into the source.",
  ],
  notes: ["A notification replayed in Paddle has a new id, and is a new delivery here."],
  vector: {
    from: "the tests of Paddle's own library, `@paddle/paddle-node-sdk`",
    secret: "VALID_SECRET",
    headers: {
      "paddle-signature": "ts=1698796800;h1=a300428748dce5c70e4da19bffd60769591ea969c99dea3105d0ec9612cf43f9",
    },
    body: '{"data": ["1", "2"]}',
    atSeconds: 1698796800,
  },
};
