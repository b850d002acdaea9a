import { z } from "zod";
import { changed, exampleOf, identifier, jsonValue, timestamp } from "../resources/fields.ts";
import { WebhookRejectionResource } from "../resources/webhook-rejection.ts";
import { WebhookSourceResource, webhookSchemes, webhookSourceExample } from "../resources/webhook-source.ts";
import { defineEvent } from "../topics/define-event.ts";

const shared = {
  version: 1,
  topic: "signalbox.webhook-source.v1",
  subject: "source id",
  audience: "account",
  data: WebhookSourceResource.extend({ changed }),
} as const;

export const webhookSourceCreatedEvent = defineEvent({
  ...shared,
  name: "webhook_source.created",
  description: "A source was created; its partner can send webhooks now.",
  example: { ...webhookSourceExample, changed: [] },
});

export const webhookSourceUpdatedEvent = defineEvent({
  ...shared,
  name: "webhook_source.updated",
  description: "A source was changed, paused, resumed, or got a new secret (`changed` then names `secret`).",
  example: { ...webhookSourceExample, status: "paused", changed: ["status"] },
});

export const webhookSourceDeletedEvent = defineEvent({
  ...shared,
  name: "webhook_source.deleted",
  description: "A source was deleted; the event has its last record.",
  example: { ...webhookSourceExample, changed: [] },
});

export const webhookReceivedEvent = defineEvent({
  name: "webhook.received",
  version: 1,
  topic: "signalbox.webhook-received.v1",
  subject: "source id",
  audience: "account",
  description:
    "A partner's webhook was verified and stored; a repeated delivery emits nothing. The extension attribute " +
    "`forward` is `false` when the account's own endpoints do not get it.",
  data: z.object({
    source_id: identifier("The source"),
    scheme: z.enum(webhookSchemes).describe("How the sender signs."),
    event_type: z.string().nullable().describe("As the partner names it; null when the scheme has none."),
    delivery_id: z.string().describe("As the partner names it."),
    received_id: z.string().optional().describe("The id by which the received webhook can be read."),
    received_at: timestamp,
    origin: z
      .enum(["pushed", "reconciled"])
      .optional()
      .describe("`reconciled` when the original was missed and recovered from the partner's own list."),
    replay_of: z.string().optional().describe("The id of the received webhook; present when its owner replayed it."),
    headers: z
      .record(z.string(), z.string())
      .optional()
      .describe("Headers of the webhook that the scheme and the source let through."),
    payload: jsonValue.optional().describe("The body byte for byte if it was JSON, or the fields of a form."),
    payload_text: z
      .string()
      .optional()
      .describe("The body, when it was text; beside `payload`, the form that it was read from."),
    payload_base64: z
      .string()
      .optional()
      .describe("The bytes of the body, when it was neither, could not be parsed, or was not UTF-8."),
    payload_problem: z
      .string()
      .optional()
      .describe("Why the body is bytes only: a stable code, such as `body_malformed` or `charset_mismatch`."),
  }),
  example: {
    source_id: "src_3kVn7RtY1bQzXw5Lm9PdHc",
    scheme: "hmac",
    event_type: "order.created",
    delivery_id: "d-1042",
    received_id: "rcv_01kbdq4v00e8w9x2m5n7p3r6tz",
    received_at: "2026-01-01T09:00:00.000Z",
    origin: "pushed",
    headers: { "content-type": "application/json" },
    payload: { order: 17 },
  },
});

const { received_id: _, ...rejected } = exampleOf(WebhookRejectionResource);

export const webhookRejectedEvent = defineEvent({
  name: "webhook.rejected",
  version: 1,
  topic: "signalbox.webhook-rejection.v1",
  subject: "source id",
  audience: "internal",
  description: "A partner's webhook was refused, and its rejection is kept: at most ten a second for each source.",
  data: WebhookRejectionResource.omit({ received_id: true }).extend({
    source_id: identifier("The source"),
    expected: z.string().nullable().describe("The scheme of the source."),
    found: z.string().nullable().describe("The scheme that the headers suggest; null for none."),
  }),
  example: { source_id: "src_3kVn7RtY1bQzXw5Lm9PdHc", ...rejected },
});
