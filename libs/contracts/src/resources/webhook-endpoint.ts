import { z } from "zod";
import { examples } from "./examples.ts";
import { identifier, timestamp } from "./fields.ts";

const webhookEndpointStatuses = ["enabled", "paused", "disabled"] as const;

/** The settings that an owner has per endpoint; null means the default of the service. */
const WebhookEndpointSettings = z.object({
  retry_schedule_seconds: z.array(z.int()).nullable().describe("Delay before each attempt; null is the default."),
  timeout_seconds: z.int().nullable().describe("Deadline of one attempt; null is the default."),
  max_in_flight: z.int().nullable().describe("Attempts at the same time; null is the default."),
  ordered: z.boolean().describe("One delivery at a time, in the order of the events."),
  asymmetric_signature: z.boolean().describe("Adds a `v1a` (Ed25519) signature."),
});

/** A webhook endpoint without its secret, which is shown on creation, rotation and reveal. */
export const WebhookEndpointResource = z
  .object({
    id: identifier("The endpoint"),
    url: z.string(),
    description: z.string().nullable(),
    event_types: z.array(z.string()).describe("Names of events, or a prefix that ends in `*`."),
    status: z.enum(webhookEndpointStatuses),
    disabled_reason: z.string().nullable().describe("Why it is disabled, when it is."),
    settings: WebhookEndpointSettings,
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "WebhookEndpoint", description: "Where an account wants its events delivered." });

export type WebhookEndpointResource = z.output<typeof WebhookEndpointResource>;

export const webhookEndpointExample: WebhookEndpointResource = {
  id: "whe_01kdzq5a7m2n4p6q8r0s1t3v5w",
  url: "https://receiver.example/hooks",
  description: "Order system",
  event_types: ["image.*"],
  status: "enabled",
  disabled_reason: null,
  settings: {
    retry_schedule_seconds: null,
    timeout_seconds: null,
    max_in_flight: null,
    ordered: false,
    asymmetric_signature: false,
  },
  created_at: "2026-01-01T09:00:00.000Z",
  updated_at: "2026-01-01T09:00:00.000Z",
};

examples.add(WebhookEndpointResource, { example: webhookEndpointExample });
