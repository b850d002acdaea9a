import type { Preset } from "./preset.ts";

export const microsoftGraph: Preset = {
  title: "Microsoft Graph",
  documentation: "https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks",
  scheme: "token",
  settings: {
    tokenFrom: { pointer: "/value/clientState" },
    eventTypeFrom: { pointer: "/value/0/changeType" },
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
    "Microsoft sends no delivery id. A request with the same content as an earlier one is a repetition.",
  ],
  vector: {
    from: "the example of Microsoft's documentation, its clientState made longer",
    secret: "secretClientValue",
    headers: {},
    body: '{"value":[{"id":"lsgTZMr9KwAAA","subscriptionId":"7f105c7d-2dc5-4530-97cd-4e7ae6534c07","subscriptionExpirationDateTime":"2019-09-20T11:00:00.0000000Z","clientState":"secretClientValue","changeType":"created","resource":"users/0/messages/1","tenantId":"84bd8158-6d4d-4958-8b9f-9d6445542f95"}]}',
    atSeconds: 1568977200,
  },
};
