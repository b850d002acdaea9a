import { z } from "zod";
import { defineEvent } from "../define-event.ts";
import { identifier, jsonValue, timestamp } from "../resources/fields.ts";
import { webhookSchemes } from "../resources/webhook-source.ts";

export const webhookReceivedEvent = defineEvent({
  name: "webhook.received",
  version: 1,
  topic: "signalbox.webhook-received.v1",
  subject: "source id",
  audience: "account",
  description:
    "A partner's webhook was verified and stored; a repeated delivery emits nothing. The extension attribute " +
    "`forward` is `false` where the account wants none of it at its own endpoints.",
  data: z.object({
    source_id: identifier("The source"),
    scheme: z.enum(webhookSchemes),
    event_type: z.string().nullable().describe("As the partner names it; null when the scheme has none."),
    delivery_id: z.string().describe("As the partner names it."),
    received_at: timestamp,
    headers: z
      .record(z.string(), z.string())
      .optional()
      .describe("Headers of the webhook that the scheme and the source let through."),
    payload: jsonValue.optional().describe("The body, when it was JSON. Exactly one of the three is present."),
    payload_text: z.string().optional().describe("The body, when it was text."),
    payload_base64: z.string().optional().describe("The body, when it was neither."),
  }),
  example: {
    source_id: "src_3kVn7RtY1bQzXw5Lm9PdHc",
    scheme: "hmac",
    event_type: "order.created",
    delivery_id: "d-1042",
    received_at: "2026-01-01T09:00:00.000Z",
    headers: { "content-type": "application/json" },
    payload: { order: 17 },
  },
});
