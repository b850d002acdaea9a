import type { Preset } from "./preset.ts";

export const linear: Preset = {
  title: "Linear",
  documentation: "https://linear.app/developers/webhooks#securing-webhooks",
  scheme: "hmac",
  settings: {
    signatureHeader: "linear-signature",
    previousSignatureHeader: null,
    signaturePrefix: "",
    signedContent: "{body}",
    deliveryIdFrom: { header: "linear-delivery" },
    eventTypeFrom: { header: "linear-event" },
    timestampFrom: { pointer: "/webhookTimestamp" },
    timeUnit: "ms",
  },
  secretFrom: "Settings → API → Webhooks → the webhook → Signing secret (`lin_wh_…`)",
  steps: [
    "In Linear open Settings → API → Webhooks and choose New webhook.",
    "Enter the address of the source as URL and pick the resource types.",
    "Copy the signing secret that Linear shows into the source.",
  ],
  notes: ["Linear writes the time of a webhook into its body, where it is checked like any signed time."],
  vector: {
    from: "the recipe of Linear's documentation; the tests also sign with `@linear/sdk`",
    secret: "lin_wh_a_signing_secret",
    headers: { "linear-signature": "141011c92b7f43c6a44f0240942b2f8e75e5fc4af4d4c5f529183cb102b99a1d" },
    body: '{"action":"create","type":"Issue","webhookTimestamp":1700000000000,"webhookId":"000042e3-d123-4980-b49f-8e140eef9329"}',
    atSeconds: 1700000000,
  },
};
