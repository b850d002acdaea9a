import type { Preset } from "./preset.ts";

export const hubspot: Preset = {
  title: "HubSpot",
  documentation: "https://developers.hubspot.com/docs/apps/legacy-apps/authentication/validating-requests",
  scheme: "hmac",
  settings: {
    signatureHeader: "x-hubspot-signature-v3",
    previousSignatureHeader: null,
    signaturePrefix: "",
    timestampHeader: "x-hubspot-request-timestamp",
    timeUnit: "ms",
    signedContent: "{method}{url}{body}{timestamp}",
    encoding: "base64",
    deliveryIdFrom: { pointer: "/0/eventId" },
    eventTypeFrom: { pointer: "/0/subscriptionType" },
  },
  secretFrom: "the app → Auth → Client secret",
  steps: [
    "In the app's settings copy the client secret from Auth into the source.",
    "Open Webhooks and enter the address of the source as target URL.",
    "Create the subscriptions and activate them.",
  ],
  notes: [
    "HubSpot signs the address too. If it uses another address than `http.base-url` with the source's path, put that address into the setting `public_url`.",
    "One webhook can hold up to a hundred events; id and type are those of the first.",
  ],
  vector: {
    from: "the recipe of HubSpot's documentation for version 3; the tests also sign with `@hubspot/api-client`",
    secret: "yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy",
    headers: {
      "x-hubspot-request-timestamp": "1700000000000",
      "x-hubspot-signature-v3": "rQEKkaNUiu+1qGF//O/pw4BCzstSqO1PyUnGICmf+7o=",
    },
    url: "https://www.example.com/webhook_uri",
    body: '{"example_field":"example_value"}',
    atSeconds: 1700000000,
  },
};
