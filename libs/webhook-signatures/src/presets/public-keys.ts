import type { Preset } from "./preset.ts";

/** Senders that sign with a private key and publish the public one. */
export const publicKeys = {
  discord: {
    title: "Discord",
    documentation: "https://discord.com/developers/docs/interactions/overview#setting-up-an-endpoint",
    scheme: "ed25519",
    settings: { deliveryIdFrom: { pointer: "/id" }, eventTypeFrom: { pointer: "/type" }, handshake: "discord" },
    secretFrom: "Developer Portal → the application → General Information → Public Key",
    steps: [
      "In the Developer Portal copy the public key of the application into the source.",
      "Enter the address of the source as Interactions Endpoint URL, or under Webhooks as Endpoint URL.",
      "Save: Discord sends a PING and one request with a wrong signature, and expects the right answer to both.",
    ],
    notes: [
      "Discord's PING is answered. For interactions set the answer that Discord should get as `answer`, with the status 200.",
    ],
    retries: "None for interactions; webhook events with growing gaps for up to ten minutes.",
    vector: {
      made: "computed",
      from: "the recipe of Discord's documentation; the tests also verify with `discord-interactions`",
      secret: "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c",
      headers: {
        "x-signature-timestamp": "1700000000",
        "x-signature-ed25519":
          "4b12d5e6f1357f09badd5e9971a8eadd0669a9d2a75f549812f2fbef10697ce775d4b90301a12b11bb86864586bfe01728c3a0cd270e719eb02c681d56c4420c",
      },
      body: '{"id":"846462639134605312","type":2,"token":"A_UNIQUE_TOKEN"}',
      atSeconds: 1700000000,
    },
  },
  plaid: {
    title: "Plaid",
    documentation: "https://plaid.com/docs/api/webhooks/webhook-verification/",
    scheme: "jwt",
    settings: {
      tokenHeader: "plaid-verification",
      tokenFormat: "plain",
      bodyDigestClaim: "request_body_sha256",
      deliveryIdFrom: "digest",
      eventTypeFrom: { pointer: "/webhook_code" },
    },
    secretFrom: 'the keys from `POST /webhook_verification_key/get`, as `{"keys":[…]}`',
    steps: [
      "Give the address of the source as `webhook` in `/link/token/create`, or with `/item/webhook/update`.",
      'Take the `kid` of a `Plaid-Verification` header, read its key with `POST /webhook_verification_key/get`, and create the source with `{"keys":[the key]}` as its secret.',
      "Fire a test with `/sandbox/item/fire_webhook`.",
    ],
    notes: [
      "Plaid gives its keys by API only, one at a time. When it changes them, webhooks are refused with `key_unknown`: add the new key to the set.",
      "Plaid hashes the body with its line breaks and two spaces of indentation, as it sends it.",
      "Plaid sends no delivery id. A webhook with the same content as an earlier one is a repetition.",
    ],
    retries: "For up to 24 hours: first after 30 seconds, then four times as long each time.",
    vector: {
      made: "computed",
      from: "the recipe of Plaid's documentation",
      secret:
        '{"keys":[{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","alg":"ES256","use":"sig","kid":"6c5516e1-92dc-479e-a8ff-5a51992e0001"}]}',
      headers: {
        "plaid-verification":
          "eyJhbGciOiJFUzI1NiIsImtpZCI6IjZjNTUxNmUxLTkyZGMtNDc5ZS1hOGZmLTVhNTE5OTJlMDAwMSIsInR5cCI6IkpXVCJ9.eyJpYXQiOjE3MDAwMDAwMDAsInJlcXVlc3RfYm9keV9zaGEyNTYiOiI1YmY2MDE4ODk2OWNmYWZlZjVjNzMwZmQzZDQxNTY3Yjg0NGFkYjNhZTA3NWQxODVhZjNiMzZhMjIyZjAwYmYwIn0.coFDQJG5HVEzvuD79qmlhNRAJQTQJo3zbx2abG-cJCSyQGk5rUQaz-Dud2NmJPz3_dWIdWKSsQkswJWdDQ_0Bg",
      },
      body: '{\n  "webhook_type": "TRANSACTIONS",\n  "webhook_code": "SYNC_UPDATES_AVAILABLE",\n  "item_id": "wz666MBjYWTp2PDzzggYhM6oWWmBb"\n}',
      atSeconds: 1700000000,
    },
  },
  telnyx: {
    title: "Telnyx",
    documentation: "https://developers.telnyx.com/development/api-fundamentals/webhooks/receiving-webhooks",
    scheme: "ed25519",
    settings: {
      secretEncoding: "base64",
      encoding: "base64",
      signatureHeader: "telnyx-signature-ed25519",
      timestampHeader: "telnyx-timestamp",
      signedContent: "{timestamp}|{body}",
      deliveryIdFrom: { pointer: "/data/id" },
      eventTypeFrom: { pointer: "/data/event_type" },
    },
    secretFrom: "Mission Control → Keys & Credentials → Public Key",
    steps: [
      "In Mission Control open Keys & Credentials and copy the public key into the source.",
      "Open the messaging profile or the connection and enter the address of the source as webhook URL, for the API version 2.",
      "Send a message as a test.",
    ],
    notes: ["A failover URL gets what the first address refused: give it the same source."],
    retries: "Up to three times to each address.",
    vector: {
      made: "computed",
      from: "the recipe of Telnyx's documentation",
      secret: "Zr5+Myx6RTMyvZ0Kf32wVfXF7xoGraZtmLOftoEMRzo=",
      headers: {
        "telnyx-timestamp": "1700000000",
        "telnyx-signature-ed25519":
          "VvbJ0y1bThxwlORH5tF7IryVs0xsXWSaFP4gqaN34oeU6qkxpV8dkwVa/53ELac9rHfGjKpwTapMtuUIejXODg==",
      },
      body: '{"data":{"event_type":"message.received","id":"b301ed3f-1490-491f-995f-6e64e69674d4","occurred_at":"2019-12-09T20:16:07.588+00:00"}}',
      atSeconds: 1700000000,
    },
  },
} satisfies Readonly<Record<string, Preset>>;
