import { computed, type Preset } from "./preset.ts";

/** Senders that sign nothing, with a secret in the address that they post to. */
export const secretAddresses = {
  "azure-event-grid": {
    title: "Azure Event Grid",
    documentation: "https://learn.microsoft.com/en-us/azure/event-grid/end-point-validation-event-grid-events-schema",
    documentedOn: "2026-11-29",
    scheme: "token",
    settings: {
      tokenFrom: { query: "code" },
      deliveryIdFrom: { pointer: "/0/id" },
      eventTypeFrom: { pointer: "/0/eventType" },
      forwardedHeaders: ["aeg-event-type", "aeg-subscription-name", "aeg-delivery-count"],
      handshake: "event-grid",
      answer: { status: 200 },
    },
    secretFrom: "a text that you choose and write into the address as `?code=…`",
    steps: [
      "Create the source with a long random text as its secret.",
      "Create the event subscription of the kind Web Hook with the address of the source and `?code=` with the text behind it, in the schema of Event Grid.",
      "The source answers Event Grid's `validationCode` at once.",
    ],
    notes: [
      "Event Grid signs nothing: the code in the query proves the sender, but not that the body is unchanged. Event Grid hides the query in its own views.",
      "One webhook may hold several events; id and type are those of the first. With a batch size of one there is one.",
      "With the schema of CloudEvents set `handshake` to cloudevents, `delivery_id_from` to `/id` and `event_type_from` to `/type`.",
    ],
    retries: "With growing gaps for up to 24 hours; then the event goes to the dead-letter container.",
    vector: computed({
      from: "the example of Microsoft's documentation",
      secret: "a-code-of-event-grid",
      url: "https://hub.example/ingest/src_1?code=a-code-of-event-grid",
      headers: { "aeg-event-type": "Notification" },
      body: '[{"id":"831e1650-001e-001b-66ab-eeb76e069631","topic":"/subscriptions/1","subject":"/blobServices/default","eventType":"Microsoft.Storage.BlobCreated","eventTime":"2017-06-26T18:41:00.9584103Z","data":{},"dataVersion":"1"}]',
    }),
  },
  monday: {
    title: "monday.com",
    documentation: "https://developer.monday.com/api-reference/reference/webhooks",
    documentedOn: "2026-11-29",
    scheme: "token",
    settings: {
      tokenFrom: "path",
      deliveryIdFrom: { pointer: "/event/triggerUuid" },
      eventTypeFrom: { pointer: "/event/type" },
      handshake: "monday",
      answer: { status: 200 },
    },
    secretFrom: "a text that you choose and write behind the address",
    steps: [
      "Create the source with a long random text of letters and digits as its secret.",
      "In the board open Integrations → Webhooks, pick the event and enter the address of the source, a slash and the text.",
      "The source answers monday.com's `challenge` at once.",
    ],
    notes: [
      "Webhooks of a board are not signed: the secret in the address proves the sender, but not that the body is unchanged.",
      "Webhooks that an app makes carry a token signed with its signing secret: use the scheme `jwt` with `token_key` secret and `token_format` plain for them.",
    ],
    retries: "Once a minute for 30 minutes.",
    vector: computed({
      from: "the example of monday.com's documentation",
      secret: "a-secret-of-monday",
      url: "https://hub.example/ingest/src_1/a-secret-of-monday",
      headers: {},
      body: '{"event":{"userId":9603417,"boardId":1771812698,"pulseId":1772099344,"type":"create_pulse","triggerTime":"2021-10-11T09:07:28.210Z","triggerUuid":"b5ed2e17c530f43668de130142445cba"}}',
    }),
  },
  unsigned: {
    title: "Unsigned webhooks",
    documentation: "https://docs.github.com/en/webhooks/using-webhooks/best-practices-for-using-webhooks",
    documentedOn: "2026-11-29",
    scheme: "token",
    settings: { tokenFrom: "path", deliveryIdFrom: "digest", answer: { status: 200 } },
    secretFrom: "a text that you choose and write behind the address",
    steps: [
      "Create the source with a long random text of letters, digits, `-` and `_` as its secret.",
      "Enter the address of the source, a slash and the text at the sender: `https://…/ingest/src_…/SECRET`.",
      "Send a test.",
    ],
    notes: [
      "For every sender that neither signs nor sends a header of your choice. Who knows the address can send anything, so treat it as a password; our logs mask it.",
      'For a secret in the query set `token_from` to `{"query":"token"}`. Set `delivery_id_from` if the body has an id, and `accept_get` for a sender that posts nothing.',
    ],
    retries: "The sender's own.",
    vector: computed({
      from: "the rule: the segment behind the address is the secret",
      secret: "a-secret-in-the-path",
      url: "https://hub.example/ingest/src_1/a-secret-in-the-path",
      headers: {},
      body: '{"type":"form.sent","name":"Ada"}',
    }),
  },
} satisfies Readonly<Record<string, Preset>>;
