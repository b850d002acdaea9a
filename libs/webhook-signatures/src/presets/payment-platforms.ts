import { computed, type Preset } from "./preset.ts";

/** Payment platforms and accounting that sign the body with an HMAC in base 64. */
export const paymentPlatforms = {
  "adyen-platform": {
    title: "Adyen for Platforms",
    documentation: "https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures/",
    documentedOn: "2026-11-29",
    scheme: "hmac",
    settings: {
      signatureHeader: "hmacsignature",
      previousSignatureHeader: null,
      signaturePrefix: "",
      signedContent: "{body}",
      secretEncoding: "hex",
      encoding: "base64",
      deliveryIdFrom: "digest",
      eventTypeFrom: { pointer: "/type" },
      forwardedHeaders: ["protocol"],
      answer: { status: 200, body: "[accepted]" },
    },
    secretFrom: "Customer Area or Balance Platform → Developers → Webhooks → the webhook → HMAC key",
    steps: [
      "Open Developers → Webhooks and create a webhook of the balance platform, of transfers, of cards or of management.",
      "Enter the address of the source as URL and generate an HMAC key.",
      "Copy the key into the source and test the configuration.",
    ],
    notes: [
      "The signature is in the header `HmacSignature` and covers the whole body; payments have the preset `adyen`.",
      "Adyen sends no delivery id; the events are told apart by their content.",
    ],
    retries: "Three times at once, then with growing gaps up to eight hours, for 30 days.",
    vector: {
      made: "library",
      from: "the tests of Adyen's own library, `@adyen/api-library`",
      secret: "D7DD5BA6146493707BF0BE7496F6404EC7A63616B7158EC927B9F54BB436765F",
      headers: { hmacsignature: "9Qz9S/0xpar1klkniKdshxpAhRKbiSAewPpWoxKefQA=", protocol: "HmacSHA256" },
      body: '{"data":{"balancePlatform":"Integration_tools_test","accountId":"BA32272223222H5HVKTBK4MLB","sweep":{"id":"SWPC42272223222H5HVKV6H8C64DP5","schedule":{"type":"balance"},"status":"active","targetAmount":{"currency":"EUR","value":0},"triggerAmount":{"currency":"EUR","value":0},"type":"pull","counterparty":{"balanceAccountId":"BA3227C223222H5HVKT3H9WLC"},"currency":"EUR"}},"environment":"test","type":"balancePlatform.balanceAccountSweep.updated"}',
      atSeconds: 1_700_000_000,
    },
  },
  quickbooks: {
    title: "QuickBooks Online",
    documentation: "https://developer.intuit.com/app/developer/qbo/docs/develop/webhooks",
    documentedOn: "2026-11-29",
    scheme: "hmac",
    settings: {
      signatureHeader: "intuit-signature",
      previousSignatureHeader: null,
      signaturePrefix: "",
      signedContent: "{body}",
      encoding: "base64",
      deliveryIdFrom: "digest",
      eventTypeFrom: [{ pointer: "/0/type" }, { pointer: "/eventNotifications/0/dataChangeEvent/entities/0/name" }],
      answer: { status: 200 },
    },
    secretFrom: "Intuit Developer → the app → Webhooks → Verifier token",
    steps: [
      "In the app open Webhooks and enter the address of the source as endpoint URL.",
      "Pick the entities and save.",
      "Show the verifier token and copy it into the source.",
    ],
    notes: [
      "One webhook may hold changes of several companies; the type is that of the first: the type of the CloudEvent, or the entity of the older format.",
      "Intuit wants 200 within three seconds; the preset answers so.",
      "Intuit sends no delivery id; the changes are told apart by their content.",
    ],
    retries: "After 20, 30 and 50 minutes; an address that keeps failing is disabled.",
    vector: computed({
      from: "the recipe of Intuit's documentation",
      secret: "a verifier token of quickbooks",
      headers: { "intuit-signature": "YIiFk61hGF9HHOEsbkOA7R7uucUGMx4BD2twsjpN2JI=" },
      body: '{"eventNotifications":[{"realmId":"1185883450","dataChangeEvent":{"entities":[{"name":"Customer","id":"1","operation":"Create","lastUpdated":"2015-10-05T14:42:19-0700"}]}}]}',
    }),
  },
} satisfies Readonly<Record<string, Preset>>;
