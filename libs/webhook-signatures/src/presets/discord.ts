import type { Preset } from "./preset.ts";

export const discord: Preset = {
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
  vector: {
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
};
