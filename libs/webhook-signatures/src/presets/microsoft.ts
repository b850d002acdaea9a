import { computed, type Preset } from "./preset.ts";

/** Services of Microsoft, which sign nothing and show a secret in the body or the address. */
export const microsoft = {
  "microsoft-graph": {
    title: "Microsoft Graph",
    documentation: "https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks",
    scheme: "token",
    settings: {
      tokenFrom: { pointer: "/value/clientState" },
      deliveryIdFrom: "digest",
      eventTypeFrom: { pointer: "/value/0/changeType" },
      refuseSameContentSeconds: 0,
      handshake: "microsoft-graph",
    },
    secretFrom: "the `clientState` that you give to the subscription, of 16 to 128 characters",
    steps: [
      "Choose a text of 16 to 128 characters and create the source with it as its secret.",
      "Create the subscription (`POST /v1.0/subscriptions`) with the address of the source as `notificationUrl` and the text as `clientState`.",
      "The source answers Microsoft's verification request with its `validationToken`. Renew the subscription before it expires.",
    ],
    notes: [
      "Microsoft signs nothing: each notification shows the `clientState`, but nothing proves that the body is unchanged.",
      "One request may hold several notifications. It is accepted if all of them show the right `clientState`, and has the type of the first.",
      "The `clientState` is part of the body, so every reader of the event sees it.",
    ],
    retries: "With growing gaps for up to four hours; slow addresses get fewer notifications.",
    vector: {
      made: "computed",
      from: "the example of Microsoft's documentation, its clientState made longer",
      secret: "secretClientValue",
      headers: {},
      body: '{"value":[{"id":"lsgTZMr9KwAAA","subscriptionId":"7f105c7d-2dc5-4530-97cd-4e7ae6534c07","subscriptionExpirationDateTime":"2019-09-20T11:00:00.0000000Z","clientState":"secretClientValue","changeType":"created","resource":"users/0/messages/1","tenantId":"84bd8158-6d4d-4958-8b9f-9d6445542f95"}]}',
      atSeconds: 1568977200,
    },
  },
  sharepoint: {
    title: "SharePoint",
    documentation: "https://learn.microsoft.com/en-us/sharepoint/dev/apis/webhooks/overview-sharepoint-webhooks",
    documentedOn: "2026-11-29",
    scheme: "token",
    settings: {
      tokenFrom: { pointer: "/value/clientState" },
      deliveryIdFrom: "digest",
      eventTypeFrom: { pointer: "/value/0/resource" },
      refuseSameContentSeconds: 0,
      handshake: "microsoft-graph",
      answer: { status: 200 },
    },
    secretFrom: "the `clientState` that you give to the subscription, of 16 to 128 characters",
    steps: [
      "Choose a text of 16 to 128 characters and create the source with it as its secret.",
      "Send `POST /_api/web/lists('ID')/subscriptions` with the address of the source as `notificationUrl` and the text as `clientState`.",
      "The source answers SharePoint's verification request with its `validationtoken`. Renew the subscription within 180 days.",
    ],
    notes: [
      "SharePoint signs nothing: each notification shows the `clientState`, but nothing proves that the body is unchanged.",
      "A notification names the list alone, which is its type; read the changes from the API.",
      "Equal notifications are different events, since they say only that something changed.",
    ],
    retries: "Five times, with five minutes between them.",
    vector: computed({
      from: "the example of Microsoft's documentation",
      secret: "91779246-afe9-4525-b122-6c199ae89211",
      headers: { "content-type": "application/json" },
      body: '{"value":[{"subscriptionId":"91779246-afe9-4525-b122-6c199ae89211","clientState":"91779246-afe9-4525-b122-6c199ae89211","expirationDateTime":"2016-04-30T17:27:00.0000000Z","resource":"b9f6f714-9df8-470b-b22e-653855e1c181","tenantId":"00000000-0000-0000-0000-000000000000","siteUrl":"/","webId":"dbc5a806-e4d4-46e5-951c-6344d70b62fa"}]}',
    }),
  },
} satisfies Readonly<Record<string, Preset>>;
