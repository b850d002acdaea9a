import type { Preset } from "./preset.ts";

export const square: Preset = {
  title: "Square",
  documentation: "https://developer.squareup.com/docs/webhooks/step3validate",
  scheme: "hmac",
  settings: {
    signatureHeader: "x-square-hmacsha256-signature",
    previousSignatureHeader: null,
    signaturePrefix: "",
    signedContent: "{url}{body}",
    encoding: "base64",
    deliveryIdFrom: { pointer: "/event_id" },
    eventTypeFrom: { pointer: "/type" },
  },
  secretFrom: "Developer Console → Webhooks → Subscriptions → the subscription → Signature key",
  steps: [
    "In the Developer Console open the application, Webhooks → Subscriptions, and choose Add subscription.",
    "Enter the address of the source as notification URL and pick the events.",
    "Copy the signature key of the subscription into the source, and send a test event.",
  ],
  notes: [
    "Square signs the address too. If it uses another address than `http.base-url` with the source's path, put that address into the setting `public_url`.",
  ],
  vector: {
    from: "the tests of Square's own library, `square`",
    secret: "Ibxx_5AKakO-3qeNVR61Dw",
    headers: { "x-square-hmacsha256-signature": "GF4YkrJgGBDZ9NIYbNXBnMzqb2HoL4RW/S6vkZ9/2N4=" },
    url: "https://webhook.site/679a4f3a-dcfa-49ee-bac5-9d0edad886b9",
    body: '{"merchant_id":"MLEFBHHSJGVHD","type":"webhooks.test_notification","event_id":"ac3ac95b-f97d-458c-a6e6-18981597e05f","created_at":"2022-07-13T20:30:59.037339943Z","data":{"type":"webhooks","id":"bc368e64-01aa-407e-b46e-3231809b1129"}}',
    atSeconds: 1657744259,
  },
};
