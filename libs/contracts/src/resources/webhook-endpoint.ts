import { z } from "zod";
import { examples, identifier, jsonValue, liveValues, timestamp } from "./fields.ts";

const header = z.object({
  name: z.string().describe("The name of the header."),
  value: z.string().nullable().describe("The value of the header; null for a secret one."),
  secret: z.boolean().describe("True if the value is encrypted and never shown."),
});
const clientCertificate = z.object({
  subject: z.string().describe("The subject of the certificate."),
  fingerprint: z.string().describe("SHA-256, in hex."),
  expires_at: timestamp,
});

/** The settings that an owner has per endpoint; null means the default of the service. */
const WebhookEndpointSettings = z.object({
  retry_schedule_seconds: z
    .array(z.int())
    .nullable()
    .describe("Delay before each attempt, starting with the first one; null for the default."),
  timeout_seconds: z.int().nullable().describe("Deadline of one attempt; null for the default."),
  max_in_flight: z.int().nullable().describe("Attempts at the same time; null for the default."),
  rate: z
    .object({
      limit: z.int().describe("The number of deliveries in one period."),
      per_seconds: z.int().describe("The length of the period in seconds."),
    })
    .nullable()
    .describe("Attempts per period, across all processes; null for no limit."),
  ordered: z.boolean().describe("One delivery at a time for each subject, in the order of its events."),
  order_hold_seconds: z
    .int()
    .nullable()
    .describe("Time for which a failing delivery holds up its subject before it is parked; null for the default."),
  filter: z.record(z.string(), jsonValue).nullable().describe("Conditions on `data`; null matches every event."),
  headers: z.array(header).describe("Headers that every delivery carries."),
  metadata: z.record(z.string(), z.string()).describe("For the owner's own use; never sent."),
  signatures: z.array(z.enum(["stripe", "github", "v1a"])).describe("Signatures in addition to the usual ones."),
  client_certificate: clientCertificate
    .nullable()
    .describe("The certificate that deliveries present in the TLS handshake."),
  api_version: z.string().nullable().describe("The version of events that it receives; null for the newest."),
  format: z
    .enum(["envelope", "original", "cloudevents", "thin"])
    .describe(
      "The format of the body: the `envelope` of Standard Webhooks, `original` for a partner's webhook exactly as sent, `cloudevents`, or `thin` with just the id of the subject.",
    ),
});

/** A webhook endpoint without its secret, which is shown on creation, rotation and reveal. */
export const WebhookEndpointResource = z
  .object({
    id: identifier("The endpoint"),
    type: z
      .enum(["push", "pull"])
      .optional()
      .describe("`push` posts to the URL; `pull` keeps messages until a consumer takes them."),
    url: z.string().describe("The address that deliveries are sent to; empty for a pull endpoint."),
    description: z.string().nullable().describe("A description for people."),
    event_types: z.array(z.string()).describe("Names of events, or a prefix that ends in `*`."),
    scope: z.enum(["account", "all"]).describe("The accounts whose events it gets: its own, or, for operators, all."),
    status: z
      .enum(["enabled", "paused", "disabled"])
      .describe("The state; only an enabled endpoint gets deliveries, others hold them."),
    disabled_reason: z.string().nullable().describe("Why it is disabled, when it is."),
    settings: WebhookEndpointSettings.describe("The settings of the endpoint."),
    secrets: liveValues("secrets").optional(),
    ends_at: timestamp
      .nullable()
      .optional()
      .describe("When a listening endpoint is deleted unless its stream continues; null for any other endpoint."),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "WebhookEndpoint", description: "An address to which events of an account are delivered." });

export type WebhookEndpointResource = z.output<typeof WebhookEndpointResource>;

export const webhookEndpointExample: WebhookEndpointResource = {
  id: "whe_01kdzq5a7m2n4p6q8r0s1t3v5w",
  type: "push",
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
  secrets: [{ id: "whk_01kdzq5a7m2n4p6q8r0s1t3v5w", created_at: "2026-01-01T09:00:00.000Z", ends_at: null }],
  ends_at: null,
  created_at: "2026-01-01T09:00:00.000Z",
  updated_at: "2026-01-01T09:00:00.000Z",
};

examples.add(WebhookEndpointResource, { example: webhookEndpointExample });

/** One delivery of one event to one endpoint, with any number of attempts. */
export const WebhookDeliveryResource = z
  .object({
    id: identifier("The delivery, sent as `X-Delivery-Id`"),
    endpoint_id: identifier("The endpoint"),
    consumer: z
      .string()
      .nullable()
      .optional()
      .describe("The named consumer of a pull endpoint; null for the endpoint itself."),
    event_id: identifier("The event"),
    event_type: z.string().describe("The name of the event type."),
    status: z
      .enum(["pending", "held", "parked", "succeeded", "exhausted", "cancelled"])
      .describe("The state of the delivery."),
    attempts: z.int().describe("Attempts made so far."),
    last_status: z
      .int()
      .nullable()
      .describe("HTTP status of the response to the last attempt; null when there was none."),
    last_error: z.string().nullable().describe("Why the last attempt failed, as a stable code."),
    created_at: timestamp,
    last_attempt_at: timestamp.nullable().describe("The time of the last attempt; null before the first."),
    next_attempt_at: timestamp.nullable().describe("The time of the next attempt; null when none is planned."),
  })
  .meta({ id: "WebhookDelivery", description: "One delivery of one event to one endpoint." });

export type WebhookDeliveryResource = z.output<typeof WebhookDeliveryResource>;

export const webhookDeliveryExample: WebhookDeliveryResource = {
  id: "whd_01kdzq6b8n3p5q7r9s1t2v4w6x",
  endpoint_id: "whe_01kdzq5a7m2n4p6q8r0s1t3v5w",
  consumer: null,
  event_id: "019b7f71-aaf9-7c12-8e5f-0d4d6a2b9c11",
  event_type: "image.created",
  status: "exhausted",
  attempts: 10,
  last_status: 503,
  last_error: "status",
  created_at: "2026-01-01T09:00:00.000Z",
  last_attempt_at: "2026-01-04T12:36:05.000Z",
  next_attempt_at: null,
};

examples.add(WebhookDeliveryResource, { example: webhookDeliveryExample });

/** Largest number of endpoints that a portal session can name. */
export const portalEndpointsMax = 100;

/** The internal path at which webhook-delivery answers which of some endpoints an account has. */
export const knownEndpointsPath = "/internal/accounts/:account_id/known-endpoints";

/** The endpoints of the question, and those of the answer. */
export const KnownEndpoints = z.strictObject({ endpoint_ids: z.array(z.string().max(100)).max(portalEndpointsMax) });
