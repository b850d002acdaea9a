import { z } from "zod";
import { examples } from "./examples.ts";
import { identifier, timestamp } from "./fields.ts";

export const webhookDeliveryStatuses = ["pending", "held", "parked", "succeeded", "exhausted"] as const;

/** One delivery of one event to one endpoint, whatever the number of attempts. */
export const WebhookDeliveryResource = z
  .object({
    id: identifier("The delivery, sent as `X-Delivery-Id`"),
    endpoint_id: identifier("The endpoint"),
    event_id: identifier("The event"),
    event_type: z.string(),
    status: z.enum(webhookDeliveryStatuses),
    attempts: z.int().describe("Attempts made so far."),
    last_status: z.int().nullable().describe("HTTP status of the last attempt; null when none came back."),
    last_error: z.string().nullable().describe("Why the last attempt failed, in a stable word."),
    created_at: timestamp,
    last_attempt_at: timestamp.nullable(),
    next_attempt_at: timestamp.nullable(),
  })
  .meta({ id: "WebhookDelivery", description: "One delivery of one event to one endpoint." });

export type WebhookDeliveryResource = z.output<typeof WebhookDeliveryResource>;

export const webhookDeliveryExample: WebhookDeliveryResource = {
  id: "whd_01kdzq6b8n3p5q7r9s1t2v4w6x",
  endpoint_id: "whe_01kdzq5a7m2n4p6q8r0s1t3v5w",
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
