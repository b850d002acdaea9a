import type { Preset } from "./preset.ts";

export const sentry: Preset = {
  title: "Sentry",
  documentation: "https://docs.sentry.io/organization/integrations/integration-platform/webhooks/",
  scheme: "hmac",
  settings: {
    signatureHeader: "sentry-hook-signature",
    previousSignatureHeader: null,
    signaturePrefix: "",
    signedContent: "{body}",
    deliveryIdFrom: { header: "request-id" },
    eventTypeFrom: { header: "sentry-hook-resource" },
    forwardedHeaders: ["sentry-hook-timestamp"],
  },
  secretFrom: "Settings → Custom Integrations → the integration → Client Secret",
  steps: [
    "In Sentry open Settings → Custom Integrations and make an internal integration.",
    "Enter the address of the source as Webhook URL and pick the webhooks.",
    "Save, and copy the client secret into the source.",
  ],
  notes: [
    "Sentry signs neither a time nor its ids: the same body counts once in five minutes (`refuse_same_content_seconds`).",
  ],
  vector: {
    from: "the recipe of Sentry's documentation",
    secret: "7c04ef9a3d1b45d1a4d2f6d1",
    headers: { "sentry-hook-signature": "86dc95e86c7c82115ec1a59bf0dc7b14baaffcd291b900ba37f18e54624770f5" },
    body: '{"action":"created","installation":{"uuid":"a8e5d37a-696c-4c54-adb5-b3f28d64c7de"},"data":{"issue":{"id":"1170820242"}}}',
    atSeconds: 1700000000,
  },
};
