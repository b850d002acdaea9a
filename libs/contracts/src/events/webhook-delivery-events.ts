import { z } from "zod";
import { changed, identifier, timestamp } from "../resources/fields.ts";
import { WebhookDeliveryResource, webhookDeliveryExample } from "../resources/webhook-endpoint.ts";
import { defineEvent } from "../topics/define-event.ts";

const shared = {
  version: 1,
  topic: "signalbox.webhook-delivery.v1",
  audience: "account",
} as const;
// No event is about a cancelled delivery, and readers of today would refuse the state.
const { status } = WebhookDeliveryResource.shape;
const data = WebhookDeliveryResource.extend({
  status: status.exclude(["cancelled"]).describe(status.description ?? ""),
  changed,
});

export const webhookDeliveryExhaustedEvent = defineEvent({
  ...shared,
  name: "webhook_delivery.exhausted",
  subject: "delivery id",
  description: "The last attempt of a delivery failed. Never sent to the endpoint it is about.",
  data,
  example: { ...webhookDeliveryExample, status: "exhausted", changed: ["status"] },
});

export const webhookDeliveryRecoveredEvent = defineEvent({
  ...shared,
  name: "webhook_delivery.recovered",
  subject: "delivery id",
  description: "An exhausted delivery has succeeded after all.",
  data,
  example: {
    ...webhookDeliveryExample,
    status: "succeeded",
    attempts: 11,
    last_status: 204,
    last_error: null,
    changed: ["status"],
  },
});

export const webhookDeliveryParkedEvent = defineEvent({
  ...shared,
  name: "webhook_delivery.parked",
  subject: "delivery id",
  description: "A delivery of an ordered endpoint failed and was parked so that later ones could go on.",
  data,
  example: { ...webhookDeliveryExample, status: "parked", attempts: 3, changed: ["status"] },
});

export const webhookDeliveryAttemptedEvent = defineEvent({
  version: 1,
  name: "webhook_delivery.attempted",
  topic: "signalbox.webhook-attempt.v1",
  subject: "endpoint id",
  audience: "internal",
  description: "An attempt was made. `webhook-delivery.attempts.published` selects the published attempts.",
  data: z.object({
    id: identifier("The attempt"),
    delivery_id: identifier("The delivery"),
    endpoint_id: identifier("The endpoint"),
    event_type: z.string().describe("The type of the delivered event."),
    number: z.int().describe("1 for the first."),
    outcome: z.string().describe("`succeeded`, `retry`, `exhausted`, `gone` or `held`."),
    status: z.int().nullable().describe("HTTP status of the response; null when there was none."),
    error: z.string().nullable().describe("Why it failed, as a stable code."),
    duration_ms: z.int(),
    started_at: timestamp,
  }),
  example: {
    id: "wha_01kdzq6f2r4s6t8v0w1x3y5z7a",
    delivery_id: webhookDeliveryExample.id,
    endpoint_id: webhookDeliveryExample.endpoint_id,
    event_type: "image.created",
    number: 2,
    outcome: "retry",
    status: 503,
    error: "status",
    duration_ms: 84,
    started_at: "2026-01-01T09:00:05.000Z",
  },
});

export const webhookEventPublishedEvent = defineEvent({
  version: 1,
  name: "webhook_event.published",
  topic: "signalbox.webhook-attempt.v1",
  subject: "account id",
  audience: "internal",
  description:
    "Events of an account, its own or the service's, were published since the last such message. An instance sends at most two a second per account; a killed instance sends none for its last half second.",
  data: z.object({
    id: identifier("The newest of these events"),
    type: z.string().describe("The type of that event."),
    created_at: timestamp,
    count: z.int().describe("Number of these events."),
  }),
  example: {
    id: "evt_01kdzq7c9p4q6r8s0t2v3w5x7y",
    type: "order.created",
    created_at: "2026-01-01T09:00:00.000Z",
    count: 3,
  },
});

export const webhookEventTypeDowngradedEvent = defineEvent({
  ...shared,
  name: "webhook_event_type.downgraded",
  subject: "event type id",
  description:
    "The schema of a declared type timed out. The type now only warns, and its events are accepted unchecked until it is changed.",
  data: z.object({
    name: z.string().describe("The name of the type."),
    enforcement: z.string().describe("The enforcement from now on."),
    enforcement_reason: z.string().describe("`check-timeout` or `compile-timeout`."),
    changed,
  }),
  example: {
    name: "order.created",
    enforcement: "warn",
    enforcement_reason: "check-timeout",
    changed: ["enforcement", "enforcement_reason"],
  },
});
