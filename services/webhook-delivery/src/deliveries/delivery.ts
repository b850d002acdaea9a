import { draft, type EventDraft, type WebhookDeliveryResource } from "@signalbox/contracts";
import { splitId } from "../endpoints/endpoint-id.ts";

/** One delivery of one event to one endpoint. */
export interface Delivery {
  readonly id: string;
  readonly endpointId: string;
  readonly accountId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly status: WebhookDeliveryResource["status"];
  readonly attempts: number;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly createdAt: Date;
  readonly lastAttemptAt: Date | null;
  readonly nextAttemptAt: Date | null;
}

/** Returns the delivery as its owner sees it. */
export function viewDelivery(delivery: Delivery): WebhookDeliveryResource {
  return {
    id: delivery.id,
    endpoint_id: splitId(delivery.endpointId).endpointId,
    consumer: splitId(delivery.endpointId).consumer,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    status: delivery.status,
    attempts: delivery.attempts,
    last_status: delivery.lastStatus,
    last_error: delivery.lastError,
    created_at: delivery.createdAt.toISOString(),
    last_attempt_at: delivery.lastAttemptAt?.toISOString() ?? null,
    next_attempt_at: delivery.status === "pending" ? (delivery.nextAttemptAt?.toISOString() ?? null) : null,
  };
}

/** Creates the event that reports the outcome of a delivery to its owner. */
export function deliveryEvent(outcome: "exhausted" | "recovered" | "parked", delivery: Delivery): EventDraft {
  const data = { ...viewDelivery(delivery), changed: ["status"] };
  return draft(`webhook_delivery.${outcome}`, { subject: delivery.id, accountId: delivery.accountId, data });
}

/**
 * True for a delivery about webhooks themselves. No event reports its failure, or one dead receiver would cause events
 * without end.
 */
export function isAboutWebhooks({ eventType }: Pick<Delivery, "eventType">): boolean {
  return eventType.startsWith("webhook_delivery.") || eventType.startsWith("webhook_endpoint.");
}
