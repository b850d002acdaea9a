import { z } from "zod";
import { examples, identifier, jsonValue, liveValues, timestamp } from "./fields.ts";

export const webhookSchemes = [
  ...(["standard-webhooks", "stripe", "github", "slack", "shopify"] as const),
  ...(["hmac", "ed25519", "token", "jwt"] as const),
] as const;

/** Senders whose own list of what they sent can be read. */
export const readableSenders = ["github", "stripe"] as const;
const senderKeyStates = ["unchecked", "working", "refused"] as const;

/** The read key of a sender, without its text. */
const SenderKey = z
  .object({
    sender: z.enum(readableSenders).describe("The sender whose list is read."),
    repository: z.string().nullable().describe("The repository of the webhook, as `owner/name`."),
    organization: z.string().nullable().describe("The organization of the webhook."),
    hook_id: z.int().nullable().describe("The id of the webhook at the sender."),
    api_url: z.string().describe("The address of the sender's API."),
    state: z.enum(senderKeyStates).describe("`refused` when the sender does not take the key."),
    reason: z.string().nullable().describe("Stable word for a refused key; null otherwise."),
    since: timestamp.describe("The time since which it has been in this state."),
    set_at: timestamp.describe("The time at which the key was given."),
  })
  .nullable()
  .describe("The read key that recovers missed webhooks, without its value; null for none.");

/** A partner that may post to `/ingest/{id}`, without the secret, which is write-only. */
export const WebhookSourceResource = z
  .object({
    id: identifier("The source"),
    name: z.string().describe("The name that its owner gave it."),
    scheme: z.enum(webhookSchemes).describe("How the sender signs."),
    preset: z.string().nullable().optional().describe("The preset of a known sender that it follows; null for none."),
    preset_version: z
      .string()
      .nullable()
      .optional()
      .describe("Date of the sender's documentation that the preset follows; null without a preset."),
    event_types: z.array(z.string()).nullable().describe("Types that are accepted; null accepts every type."),
    status: z.enum(["active", "paused", "stopped"]).describe("The state; only an active source takes webhooks."),
    forward: z.boolean().describe("True if accepted webhooks are forwarded to the account's endpoints."),
    ingest_path: z.string().describe("The path to which the partner posts."),
    former_ingest_paths: z
      .array(z.object({ ingest_path: z.string().describe("The path that the sender posts to."), ends_at: timestamp }))
      .optional()
      .describe("Former paths that are still accepted, most recent first."),
    addresses: liveValues("addresses", {
      ingest_path: z.string().describe("The path of this address."),
    }).optional(),
    settings: z.record(z.string(), jsonValue).describe("Settings of the scheme, such as header names for `hmac`."),
    overlaps_end_at: z
      .array(timestamp)
      .optional()
      .describe("When each rotated-out secret stops verifying, latest first."),
    secrets: liveValues("secrets").optional(),
    sender_key: SenderKey.optional(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "WebhookSource", description: "A partner that sends webhooks to the account." });

export type WebhookSourceResource = z.output<typeof WebhookSourceResource>;

export const webhookSourceExample: WebhookSourceResource = {
  id: "src_3kVn7RtY1bQzXw5Lm9PdHc",
  name: "Shop",
  scheme: "hmac",
  preset: null,
  preset_version: null,
  event_types: null,
  status: "active",
  forward: true,
  ingest_path: "/ingest/src_3kVn7RtY1bQzXw5Lm9PdHc",
  former_ingest_paths: [],
  addresses: [
    {
      id: "sra_01kdzq5a7m2n4p6q8r0s1t3v5w",
      created_at: "2026-01-01T09:00:00.000Z",
      ends_at: null,
      ingest_path: "/ingest/src_3kVn7RtY1bQzXw5Lm9PdHc",
    },
  ],
  settings: { signature_header: "X-Signature" },
  overlaps_end_at: [],
  secrets: [{ id: "srk_01kdzq5a7m2n4p6q8r0s1t3v5w", created_at: "2026-01-01T09:00:00.000Z", ends_at: null }],
  sender_key: null,
  created_at: "2026-01-01T09:00:00.000Z",
  updated_at: "2026-01-01T09:00:00.000Z",
};

examples.add(WebhookSourceResource, { example: webhookSourceExample });
