import type { Preset } from "./preset.ts";

export const zoom: Preset = {
  title: "Zoom",
  documentation: "https://developers.zoom.us/docs/api/webhooks/#verify-webhook-events",
  scheme: "hmac",
  settings: {
    signatureHeader: "x-zm-signature",
    previousSignatureHeader: null,
    signaturePrefix: "v0=",
    timestampHeader: "x-zm-request-timestamp",
    signedContent: "v0:{timestamp}:{body}",
    deliveryIdFrom: { pointer: "/payload/object/uuid" },
    eventTypeFrom: { pointer: "/event" },
    handshake: "zoom",
  },
  secretFrom: "App Marketplace → the app → Features → Access → Secret Token",
  steps: [
    "In the App Marketplace open the app, Features → Access, and copy the secret token into the source.",
    "Switch Event subscriptions on and enter the address of the source as notification endpoint URL.",
    "Choose Validate: the source answers Zoom's verification request. Then pick the events and save.",
  ],
  notes: [
    "Zoom sends a verification request when you save the address and every 72 hours; the source answers it.",
    "Zoom sends no delivery id. The meeting's UUID is used; later deliveries about the same meeting get digits of their content appended.",
  ],
  vector: {
    from: "the recipe of Zoom's documentation",
    secret: "a_zoom_secret_token",
    headers: {
      "x-zm-request-timestamp": "1658940994",
      "x-zm-signature": "v0=da07111477eeee10a210c148184fb3ec740ec3d4aa898222d1493ec972a390b6",
    },
    body: '{"event":"meeting.started","payload":{"account_id":"o8KK_AAACq6BBEyA70CA","object":{"uuid":"czLF6FFFoQOKgAB99DlDb9g=="}},"event_ts":1658940994914}',
    atSeconds: 1658940994,
  },
};
