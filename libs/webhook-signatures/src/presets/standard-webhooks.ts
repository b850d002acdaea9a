import type { Preset } from "./preset.ts";

const svixRetries =
  "Svix's schedule: at once, then after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h; an endpoint that fails for five days is disabled.";
/** The library and the secret that made the vectors of its form. */
const ownLibrary = "Standard Webhooks' own library, `standardwebhooks` 1.1.1, with the secret of its published vector";
const ownSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** Senders that sign by Standard Webhooks. */
export const standardWebhooksSenders = {
  "standard-webhooks": {
    title: "Standard Webhooks",
    documentation: "https://www.standardwebhooks.com/",
    scheme: "standard-webhooks",
    settings: {},
    secretFrom: "the sender's page of the webhook: a text that begins with `whsec_`, or a public key `whpk_…`",
    steps: [
      "Create the webhook at the sender with the address of the source.",
      "Copy the signing secret into the source, with or without `whsec_`.",
      "Send a test event.",
    ],
    notes: [
      "For every sender that follows the specification and has no preset of its own, Svix's customers among them.",
    ],
    retries: "The sender's own; the specification proposes ten attempts over three days.",
    vector: {
      made: "library",
      from: "the tests of Standard Webhooks' own libraries",
      secret: ownSecret,
      headers: {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
      },
      body: '{"test": 2432232314}',
      atSeconds: 1614265330,
    },
  },
  openai: {
    title: "OpenAI",
    documentation: "https://platform.openai.com/docs/guides/webhooks",
    scheme: "standard-webhooks",
    settings: {},
    secretFrom: "Settings → Project → Webhooks, shown once when the webhook is created",
    steps: [
      "In the project's settings open Webhooks and choose Create.",
      "Enter a name and the address of the source, and pick the event types.",
      "Copy the signing secret into the source: it is not shown again.",
    ],
    notes: ["Secrets belong to one project, so each project needs a source of its own."],
    retries: "For up to 72 hours with growing gaps.",
    vector: {
      made: "library",
      from: ownLibrary,
      secret: ownSecret,
      headers: {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,fLMLaWtY+0ii0mHKmxeVWURsFOypffq0BVH/wo3Ezzc=",
      },
      body: '{"id":"evt_685343a1381c819085d44c354e1b330e","object":"event","created_at":1750287018,"type":"response.completed","data":{"id":"resp_abc123"}}',
      atSeconds: 1614265330,
    },
  },
  clerk: {
    title: "Clerk",
    documentation: "https://clerk.com/docs/webhooks/sync-data",
    scheme: "standard-webhooks",
    settings: {},
    secretFrom: "Dashboard → Webhooks → the endpoint → Signing Secret",
    steps: [
      "In the Clerk Dashboard open Webhooks and choose Add Endpoint.",
      "Enter the address of the source and subscribe to the events.",
      "Open the endpoint and copy its signing secret into the source.",
    ],
    notes: [
      "The headers are those of Svix (`svix-id`, `svix-timestamp`, `svix-signature`); the source takes both spellings.",
      "Development and production instances have endpoints and secrets of their own.",
    ],
    retries: svixRetries,
    vector: {
      made: "library",
      from: ownLibrary,
      secret: ownSecret,
      headers: {
        "svix-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "svix-timestamp": "1614265330",
        "svix-signature": "v1,7q9W5COnRCrDuKRgjDZGKKNI/lgXJ447P8tdg2w4PIs=",
      },
      body: '{"type":"user.created","object":"event","data":{"id":"user_29w83sxmDNGwOuEthce5gg56FcC"}}',
      atSeconds: 1614265330,
    },
  },
  resend: {
    title: "Resend",
    documentation: "https://resend.com/docs/dashboard/webhooks/verify-webhooks-requests",
    scheme: "standard-webhooks",
    settings: {},
    secretFrom: "Webhooks → the webhook → Signing secret",
    steps: [
      "In Resend open Webhooks and choose Add Webhook.",
      "Enter the address of the source and pick the events.",
      "Open the webhook and copy its signing secret into the source.",
    ],
    notes: [
      "The headers are those of Svix (`svix-id`, `svix-timestamp`, `svix-signature`); the source takes both spellings.",
    ],
    retries: "Svix's schedule: at once, then after 5 s, 5 min, 30 min, 2 h, 5 h and 10 h.",
    vector: {
      made: "library",
      from: ownLibrary,
      secret: ownSecret,
      headers: {
        "svix-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "svix-timestamp": "1614265330",
        "svix-signature": "v1,/i07mUKJF3i6L4NnXM7pNjbR0a2yZQR+wvY24WA81i8=",
      },
      body: '{"type":"email.delivered","created_at":"2024-02-22T23:41:12.126Z","data":{"email_id":"56761188-7520-42d8-8898-ff6fc54ce618"}}',
      atSeconds: 1614265330,
    },
  },
  replicate: {
    title: "Replicate",
    documentation: "https://replicate.com/docs/topics/webhooks/verify-webhook",
    scheme: "standard-webhooks",
    settings: {},
    secretFrom: "`GET https://api.replicate.com/v1/webhooks/default/secret`: its `key`",
    steps: [
      "Read the signing secret with `GET /v1/webhooks/default/secret` and copy it into the source.",
      "Give the address of the source as `webhook` when you create a prediction, with `webhook_events_filter`.",
      "Create one prediction as a test.",
    ],
    notes: [
      "The body is the prediction and has no `type`: the event type is empty.",
      "The address is given with each prediction; there is no list of webhooks at Replicate.",
    ],
    retries: "The last event of a prediction is sent again for about a minute; earlier ones are not.",
    vector: {
      made: "library",
      from: ownLibrary,
      secret: ownSecret,
      headers: {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,x8sxS7nGJ7p37arXiIHoJ4duG2w+b6oUGwVSL2xUnDQ=",
      },
      body: '{"id":"ufawqhfynnddngldkgtslldrkq","status":"succeeded"}',
      atSeconds: 1614265330,
    },
  },
  supabase: {
    title: "Supabase Auth Hooks",
    documentation: "https://supabase.com/docs/guides/auth/auth-hooks",
    documentedOn: "2026-11-29",
    scheme: "standard-webhooks",
    settings: { answer: { status: 200 } },
    secretFrom: "Authentication → Hooks → the hook → Secret, without its first characters `v1,`",
    steps: [
      "In the project open Authentication → Hooks and add an HTTPS hook.",
      "Enter the address of the source, generate a secret and copy it into the source without `v1,`.",
      "Create the hook.",
    ],
    notes: [
      "Supabase shows `v1,whsec_…`; the secret of the source begins with `whsec_`.",
      "A hook waits for an answer: the preset gives 200; set another body as `answer` for a hook that reads it.",
      "Database webhooks of Supabase are not signed; use the scheme `token` with a header of your own for them.",
    ],
    retries: "Up to three times, when the answer is 429 or 503 with `Retry-After`.",
    vector: {
      made: "library",
      from: ownLibrary,
      secret: ownSecret,
      headers: {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,4VeyL89OcSCtdNbO/Gs8ZsnfY9b/XzzmY9w9qM06o2Q=",
      },
      body: '{"metadata":{"name":"before-user-created"},"user":{"id":"2b6aa5a4-6d5e-4d8b-9d6a-4e8f0a3d4d54"}}',
      atSeconds: 1614265330,
    },
  },
  render: {
    title: "Render",
    documentation: "https://render.com/docs/webhooks",
    scheme: "standard-webhooks",
    settings: {},
    secretFrom: "Integrations → Webhooks → the webhook → Signing secret",
    steps: [
      "In the workspace open Integrations → Webhooks and choose Create Webhook.",
      "Enter the address of the source and pick the events.",
      "Copy the signing secret into the source.",
    ],
    notes: ["The payload names the event only; details are read from Render's API."],
    retries: "Up to eight times with growing gaps over about 33 hours.",
    vector: {
      made: "library",
      from: ownLibrary,
      secret: ownSecret,
      headers: {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,IiC8mtNMgh9DU/TmDFZR/VeUfY0efbQJBbeEqhFymjs=",
      },
      body: '{"type":"deploy_ended","timestamp":"2024-01-01T00:00:00Z","data":{"id":"evt-ch1234","serviceId":"srv-ch1234"}}',
      atSeconds: 1614265330,
    },
  },
  polar: {
    title: "Polar",
    documentation: "https://polar.sh/docs/integrate/webhooks/delivery",
    scheme: "standard-webhooks",
    settings: {},
    secretFrom: "the organization → Settings → Webhooks → the endpoint → Secret",
    steps: [
      "In the organization's settings open Webhooks and choose Add Endpoint.",
      "Enter the address of the source, the format Raw and a secret, and pick the events.",
      'Give the source that secret in base 64 after `whsec_`: `whsec_$(printf %s "$SECRET" | base64)`.',
    ],
    notes: [
      "Polar signs with the text of the secret; Standard Webhooks wants base 64, so the secret must be encoded once.",
    ],
    retries: "Up to ten times with growing gaps; after ten failed deliveries in a row the endpoint is disabled.",
    vector: {
      made: "library",
      from: ownLibrary,
      secret: ownSecret,
      headers: {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,800nWruN1PI8BFJls8fxTjgoH6gLqzpnYMArc4v6skM=",
      },
      body: '{"type":"order.created","timestamp":"2025-01-01T00:00:00Z","data":{"id":"57107b74-8400-4d80-a2fc-54c2b4239cb3"}}',
      atSeconds: 1614265330,
    },
  },
  "incident-io": {
    title: "incident.io",
    documentation: "https://docs.incident.io/integrations/webhooks",
    scheme: "standard-webhooks",
    settings: { eventTypeFrom: { pointer: "/event_type" } },
    secretFrom: "Settings → Webhooks → the endpoint → Signing secret",
    steps: [
      "In the dashboard open Settings → Webhooks and create an endpoint.",
      "Enter the address of the source and choose the events.",
      "Copy the signing secret into the source.",
    ],
    notes: [
      "The type is `event_type` in the body, which this preset reads.",
      "Private incidents come without their content; read it from the API.",
    ],
    retries: svixRetries,
    vector: {
      made: "library",
      from: ownLibrary,
      secret: ownSecret,
      headers: {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,XFYtPmRp1AmqGUZfAOCSxYet9z1fTbORzSi5J/wQ5jk=",
      },
      body: '{"event_type":"public_incident.incident_created_v2","public_incident.incident_created_v2":{"id":"01FDAG4SAP5TYPT98WGR2N7W91"}}',
      atSeconds: 1614265330,
    },
  },
  brex: {
    title: "Brex",
    documentation: "https://developer.brex.com/docs/webhooks/",
    scheme: "standard-webhooks",
    settings: { eventTypeFrom: { pointer: "/event_type" } },
    secretFrom: "`GET https://platform.brexapis.com/v1/webhooks/secrets`",
    steps: [
      "Register the address of the source with `POST /v1/webhooks` and the event types.",
      "Read the secret with `GET /v1/webhooks/secrets` and copy it into the source.",
      "Switch the webhook to ACTIVE.",
    ],
    notes: [
      "The secret rotates on demand; for a while Brex lists and signs with two.",
      "The type is `event_type` in the body, which this preset reads.",
    ],
    retries: "With growing gaps for about a day.",
    vector: {
      made: "library",
      from: ownLibrary,
      secret: ownSecret,
      headers: {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g4EDjOCS0RZMFYRczYoX/jsqTdBl07aYmBc7Rt+IvNk=",
      },
      body: '{"event_type":"TRANSFER_PROCESSED","transfer_id":"dptx_ckxyz","company_id":"cuacc_1"}',
      atSeconds: 1614265330,
    },
  },
} satisfies Readonly<Record<string, Preset>>;
