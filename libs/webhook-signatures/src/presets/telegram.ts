import type { Preset } from "./preset.ts";

export const telegram: Preset = {
  title: "Telegram",
  documentation: "https://core.telegram.org/bots/api#setwebhook",
  scheme: "token",
  settings: {
    tokenHeader: "x-telegram-bot-api-secret-token",
    tokenFormat: "plain",
    deliveryIdFrom: { pointer: "/update_id" },
  },
  secretFrom: "the `secret_token` that you give to `setWebhook`",
  steps: [
    "Choose a token of 16 to 256 letters, digits, `_` and `-`, and create the source with it.",
    "Call `setWebhook` with the address of the source as `url` and the token as `secret_token`.",
    "Check with `getWebhookInfo` that Telegram reaches the source.",
  ],
  notes: ["Telegram signs nothing: the token proves the sender, but not that the body is unchanged."],
  vector: {
    from: "Telegram's documentation: the header is the token",
    secret: "a_token-of_sixteen-bytes",
    headers: { "x-telegram-bot-api-secret-token": "a_token-of_sixteen-bytes" },
    body: '{"update_id":10000,"message":{"message_id":1365}}',
    atSeconds: 1700000000,
  },
};
