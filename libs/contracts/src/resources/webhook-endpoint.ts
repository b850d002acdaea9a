import { z } from "zod";
import { examples } from "./examples.ts";
import { identifier, jsonValue, timestamp } from "./fields.ts";

export const webhookEndpointScopes = ["account", "all"] as const;
const webhookEndpointStatuses = ["enabled", "paused", "disabled"] as const;

/** Signatures besides the two families that every delivery carries. */
export const webhookSignatures = ["stripe", "github", "v1a"] as const;
export const webhookFormats = ["envelope", "original"] as const;

const header = z.object({
  name: z.string(),
  value: z.string().nullable().describe("Null for one that is secret."),
  secret: z.boolean().describe("Whether its value is sealed and never shown."),
});
const clientCertificate = z.object({
  subject: z.string(),
  fingerprint: z.string().describe("SHA-256, in hex."),
  expires_at: timestamp,
});

/** The settings that an owner has per endpoint; null means the default of the service. */
const WebhookEndpointSettings = z.object({
  retry_schedule_seconds: z.array(z.int()).nullable().describe("Delay before each attempt; null is the default."),
  timeout_seconds: z.int().nullable().describe("Deadline of one attempt; null is the default."),
  max_in_flight: z.int().nullable().describe("Attempts at the same time; null is the default."),
  rate: z
    .object({ limit: z.int(), per_seconds: z.int() })
    .nullable()
    .describe("Attempts in a time, over all processes; null is no limit."),
  ordered: z.boolean().describe("One delivery at a time for each subject, in the order of its events."),
  order_hold_seconds: z
    .int()
    .nullable()
    .describe("How long a failing delivery holds up its subject before it is parked; null is the default."),
  filter: z.record(z.string(), jsonValue).nullable().describe("Conditions on `data`; null takes every event."),
  headers: z.array(header).describe("Headers that every delivery carries."),
  metadata: z.record(z.string(), z.string()).describe("Kept for the owner; not sent."),
  signatures: z.array(z.enum(webhookSignatures)).describe("Signatures besides the usual ones."),
  client_certificate: clientCertificate
    .nullable()
    .describe("What deliveries show to the receiver in the TLS handshake."),
  api_version: z.string().nullable().describe("The version of events that it gets; null is the newest."),
  format: z.enum(webhookFormats).describe("`original` posts a partner's webhook as the partner sent it."),
});

/** A webhook endpoint without its secret, which is shown on creation, rotation and reveal. */
export const WebhookEndpointResource = z
  .object({
    id: identifier("The endpoint"),
    url: z.string(),
    description: z.string().nullable(),
    event_types: z.array(z.string()).describe("Names of events, or a prefix that ends in `*`."),
    scope: z
      .enum(webhookEndpointScopes)
      .describe("Whose events it gets: those of its account, or, for operators, of all accounts."),
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
  scope: "account",
  status: "enabled",
  disabled_reason: null,
  settings: {
    retry_schedule_seconds: null,
    timeout_seconds: null,
    max_in_flight: null,
    rate: null,
    ordered: false,
    order_hold_seconds: null,
    filter: null,
    headers: [],
    metadata: {},
    signatures: [],
    client_certificate: null,
    api_version: null,
    format: "envelope",
  },
  created_at: "2026-01-01T09:00:00.000Z",
  updated_at: "2026-01-01T09:00:00.000Z",
};

examples.add(WebhookEndpointResource, { example: webhookEndpointExample });
