import { computed, type Preset } from "./preset.ts";

/** Senders with a scheme of their own. */
export const ownSchemes = {
  stripe: {
    title: "Stripe",
    documentation: "https://docs.stripe.com/webhooks#verify-manually",
    scheme: "stripe",
    settings: {},
    secretFrom: "Dashboard → Developers → Webhooks → the endpoint → Signing secret (`whsec_…`)",
    steps: [
      "In the Dashboard open Developers → Webhooks and choose Add destination or Add endpoint.",
      "Enter the address of the source as endpoint URL and select the events.",
      "Reveal the signing secret of the endpoint and copy it into the source as it is, with `whsec_`.",
    ],
    notes: [
      "The secret is the text with its prefix, not its decoded bytes.",
      "`stripe listen` has a secret of its own, so a source that the CLI feeds needs that one.",
      "Stripe does not promise an order: an update may come before the creation.",
    ],
    retries:
      "Up to three days with growing gaps in live mode, three times within hours in a sandbox; an endpoint that keeps failing is disabled.",
    readKey: {
      sender: "stripe",
      from: "Dashboard → Developers → API keys → Create restricted key, with read access to Events",
      keeps: "30 days",
    },
    vector: {
      made: "library",
      from: "Stripe's own library, `stripe` 23.1.0 (`generateTestHeaderString`)",
      secret: "whsec_test_secret",
      headers: {
        "stripe-signature": "t=1614265330,v1=af4ead0627a34a8cca29808e8de9ada8e41a92e6237c63cef6eacf51d36cca34",
      },
      body: '{\n  "id": "evt_test_webhook",\n  "object": "event"\n}',
      atSeconds: 1614265330,
    },
  },
  github: {
    title: "GitHub",
    documentation: "https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries",
    scheme: "github",
    settings: { acceptShortSecret: true },
    secretFrom: "Settings → Webhooks → the webhook → Secret, which you choose",
    steps: [
      "In the repository, organization or app open Settings → Webhooks and choose Add webhook.",
      "Enter the address of the source as payload URL, `application/json` as content type and the source's secret as secret.",
      "Pick the events and save: GitHub sends a `ping`.",
    ],
    notes: [
      "A redelivery has the id of the first delivery.",
      "GitHub counts an answer after ten seconds as a failure, and drops bodies over 25 MB.",
    ],
    retries:
      "None. A failed delivery is sent again on demand only, for three days (`POST …/deliveries/{id}/attempts`).",
    readKey: {
      sender: "github",
      from: "Settings → Developer settings → Fine-grained tokens, with read and write access to Webhooks of the repository, or of the organization",
      keeps: "3 days",
    },
    vector: {
      made: "published",
      from: "GitHub's documentation",
      secret: "It's a Secret to Everybody",
      headers: { "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17" },
      body: "Hello, World!",
      atSeconds: 1700000000,
    },
  },
  slack: {
    title: "Slack",
    documentation: "https://api.slack.com/authentication/verifying-requests-from-slack",
    documentedOn: "2026-11-29",
    scheme: "slack",
    settings: { answer: { status: 200 } },
    secretFrom: "api.slack.com/apps → the app → Basic Information → Signing Secret",
    steps: [
      "In the app's settings copy the signing secret from Basic Information into the source.",
      "Open Event Subscriptions, switch events on and enter the address of the source as request URL.",
      "The source answers Slack's `url_verification` at once. Then add the events and save.",
    ],
    notes: [
      "Commands and interactions come as forms, events as JSON; the source takes both.",
      "Slack waits three seconds for an answer.",
    ],
    retries:
      "Three times: at once, after one minute and after five minutes, with `X-Slack-Retry-Num`. An app that fails too often loses its subscriptions for a while.",
    vector: {
      made: "published",
      from: "Slack's documentation",
      secret: "8f742231b10e8888abcd99yyyzzz85a5",
      headers: {
        "x-slack-request-timestamp": "1531420618",
        "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
      },
      body: "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
      atSeconds: 1531420618,
    },
  },
  shopify: {
    title: "Shopify",
    documentation: "https://shopify.dev/docs/apps/build/webhooks/subscribe/https",
    documentedOn: "2026-11-29",
    scheme: "shopify",
    settings: { answer: { status: 200 } },
    secretFrom:
      "Partner Dashboard → the app → Client secret; for webhooks made in the admin: Settings → Notifications → Webhooks",
    steps: [
      "Copy the client secret of the app into the source.",
      "Subscribe the topics in `shopify.app.toml` or with `webhookSubscriptionCreate`, with the address of the source as URI.",
      "Or, without an app, open Settings → Notifications → Webhooks in the admin, enter the address and copy the secret shown there.",
    ],
    notes: [
      "After a new client secret Shopify may sign with the old one for an hour: rotate the source's secret with an overlap.",
    ],
    retries: "Eight times within four hours; then a subscription that was made with the API is removed.",
    vector: computed({
      from: "the recipe of Shopify's documentation",
      secret: "a client secret of a shop",
      headers: { "x-shopify-hmac-sha256": "hi7pxB3cYnZdsHUNONavAr0oucsrBr6f1BA4QS+aXP4=" },
      body: '{"id":820982911946154508,"email":"jon@example.com"}',
    }),
  },
} satisfies Readonly<Record<string, Preset>>;
