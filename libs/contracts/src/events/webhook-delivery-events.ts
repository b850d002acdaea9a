import { z } from "zod";
import { defineEvent } from "../define-event.ts";
import { changed, identifier, jsonValue, timestamp } from "../resources/fields.ts";
import { WebhookDeliveryResource, webhookDeliveryExample } from "../resources/webhook-delivery.ts";

const shared = {
  version: 1,
  topic: "signalbox.webhook-delivery.v1",
  audience: "account",
} as const;
const data = WebhookDeliveryResource.extend({ changed });

export const webhookDeliveryExhaustedEvent = defineEvent({
  ...shared,
  name: "webhook_delivery.exhausted",
  subject: "delivery id",
  description: "The last attempt of a delivery failed. Never sent to the endpoint it is about.",
  data,
  example: { ...webhookDeliveryExample, changed: ["status"] },
});

export const webhookDeliveryRecoveredEvent = defineEvent({
  ...shared,
  name: "webhook_delivery.recovered",
  subject: "delivery id",
  description: "A delivery that was exhausted has succeeded after all.",
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
  description: "A delivery of an ordered endpoint failed and was set aside so that those behind it could go on.",
  data,
  example: { ...webhookDeliveryExample, status: "parked", attempts: 3, changed: ["status"] },
});

export const webhookEventPublishedEvent = defineEvent({
  ...shared,
  name: "webhook_event.published",
  subject: "id of the custom event",
  audience: "internal",
  description:
    "A custom event was accepted at `POST /api/v1/webhooks/events`. Its deliveries were written with it, so the fan-out ignores this.",
  data: z.object({
    id: identifier("The custom event"),
    type: z.string(),
    data: jsonValue,
    created_at: timestamp,
  }),
  example: {
    id: "evt_01kdzq7c9p4q6r8s0t2v3w5x7y",
    type: "order.created",
    data: { order: 17 },
    created_at: "2026-01-01T09:00:00.000Z",
  },
});
