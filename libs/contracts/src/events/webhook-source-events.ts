import { defineEvent } from "../define-event.ts";
import { changed } from "../resources/fields.ts";
import { WebhookSourceResource, webhookSourceExample } from "../resources/webhook-source.ts";

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
  description: "A partner may send webhooks now.",
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
  description: "A source is gone; the record is shown as it was.",
  example: { ...webhookSourceExample, changed: [] },
});
