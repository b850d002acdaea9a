import { computed, type Preset } from "./preset.ts";

/** Senders that sign members of the body instead of all of it. */
export const signedMembers = {
  adyen: {
    title: "Adyen",
    documentation: "https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures/",
    scheme: "hmac",
    settings: {
      acceptWeak: true,
      secretEncoding: "hex",
      encoding: "base64",
      signaturePrefix: "",
      signatureFrom: { pointer: "/notificationItems/0/NotificationRequestItem/additionalData/hmacSignature" },
      signedContent:
        "{body:/notificationItems/0/NotificationRequestItem/pspReference}:{body:/notificationItems/0/NotificationRequestItem/originalReference}:{body:/notificationItems/0/NotificationRequestItem/merchantAccountCode}:{body:/notificationItems/0/NotificationRequestItem/merchantReference}:{body:/notificationItems/0/NotificationRequestItem/amount/value}:{body:/notificationItems/0/NotificationRequestItem/amount/currency}:{body:/notificationItems/0/NotificationRequestItem/eventCode}:{body:/notificationItems/0/NotificationRequestItem/success}",
      deliveryIdFrom: "digest",
      eventTypeFrom: { pointer: "/notificationItems/0/NotificationRequestItem/eventCode" },
      answer: { status: 200, body: "[accepted]" },
    },
    secretFrom: "Customer Area → Developers → Webhooks → the webhook → HMAC key",
    steps: [
      "In the Customer Area open Developers → Webhooks and create a standard webhook.",
      "Enter the address of the source as URL, the method JSON, and generate an HMAC key.",
      "Copy the key into the source, wait some minutes until it is used, and test the configuration.",
    ],
    notes: [
      "Adyen signs eight members of the notification and nothing else, so the preset sets `accept_weak`: the rest of the body could be changed.",
      "A request with more than one notification is refused: the others would not be signed.",
      "The same event may come again with other content; keep the pair of `pspReference` and `eventCode`.",
    ],
    retries: "Three times at once, then with growing gaps up to eight hours, for 30 days.",
    vector: {
      made: "library",
      from: "the tests of Adyen's own library, `@adyen/api-library`",
      secret: "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056",
      headers: {},
      body: '{"live":"false","notificationItems":[{"NotificationRequestItem":{"additionalData":{"hmacSignature":"coqCmt/IZ4E3CzPvMY8zTjQVL5hYJUiBRg8UU+iCWo0="},"amount":{"currency":"EUR","value":1130},"eventCode":"AUTHORISATION","eventDate":"2019-05-06T17:15:34.121+02:00","merchantAccountCode":"TestMerchant","merchantReference":"TestPayment-1407325143704","pspReference":"7914073381342284","success":"true"}}]}',
      atSeconds: 1700000000,
    },
  },
  mailgun: {
    title: "Mailgun",
    documentation: "https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks",
    documentedOn: "2026-11-29",
    scheme: "hmac",
    settings: {
      acceptWeak: true,
      signaturePrefix: "",
      signatureFrom: { pointer: "/signature/signature" },
      signedContent: "{body:/signature/timestamp}{body:/signature/token}",
      deliveryIdFrom: { pointer: "/signature/token" },
      eventTypeFrom: { pointer: "/event-data/event" },
      answer: { status: 200 },
    },
    secretFrom: "Sending → Webhooks → HTTP webhook signing key",
    steps: [
      "Open Sending → Webhooks and copy the HTTP webhook signing key into the source.",
      "Choose the domain, add a webhook for each event and enter the address of the source as URL.",
      "Send a test.",
    ],
    notes: [
      "Mailgun signs a time and a token and nothing of the event, so the preset sets `accept_weak`.",
      "The time is that of the event, which a retry eight hours later still has, so it is not compared with now. The token makes a webhook unique: it is the delivery id and counts once, whatever the content.",
    ],
    retries: "For eight hours: after 10, 15 and 30 minutes, 1, 2 and 4 hours; 406 ends them.",
    vector: computed({
      from: "the recipe of Mailgun's documentation",
      secret: "a webhook signing key of mailgun",
      headers: {},
      body: '{"signature":{"timestamp":"1700000000","token":"a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0","signature":"1e50d8ea590ca536eadaca54f574bc54aba9c0b7839166b194823386c8190dee"},"event-data":{"id":"G9Bn5sl1TC6nu79C8C0bwg","event":"delivered","timestamp":1700000000}}',
    }),
  },
  "mailgun-routes": {
    title: "Mailgun routes",
    documentation: "https://documentation.mailgun.com/docs/mailgun/user-manual/receive-forward-store/receive-http",
    documentedOn: "2026-11-29",
    scheme: "hmac",
    settings: {
      acceptWeak: true,
      signaturePrefix: "",
      signatureFrom: { pointer: "/signature" },
      signedContent: "{body:/timestamp}{body:/token}",
      deliveryIdFrom: { pointer: "/token" },
      answer: { status: 200 },
    },
    secretFrom: "Sending → Webhooks → HTTP webhook signing key",
    steps: [
      "Copy the HTTP webhook signing key into the source.",
      "Open Receiving and create a route that forwards to the address of the source.",
      "Send a mail to the route as a test.",
    ],
    notes: [
      "A mail comes as a form, of parts where it has attachments; the readers of the event then get the bytes of the whole form in `payload_base64`.",
      "Mailgun signs a time and a token and nothing of the mail, so the preset sets `accept_weak`. The token is the delivery id and counts once, whatever the content.",
      "Mails with attachments are large: mind `limits.maxWebhookBytes`.",
    ],
    retries: "For eight hours: after 10, 15 and 30 minutes, 1, 2 and 4 hours; 406 ends them.",
    vector: computed({
      from: "the recipe of Mailgun's documentation",
      secret: "a webhook signing key of mailgun",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "recipient=hub%40example.com&timestamp=1700000000&token=a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0&signature=1e50d8ea590ca536eadaca54f574bc54aba9c0b7839166b194823386c8190dee",
    }),
  },
} satisfies Readonly<Record<string, Preset>>;
