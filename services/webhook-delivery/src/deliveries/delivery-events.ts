import { draft, type EventDraft } from "@signalbox/contracts";
import { type Attempt, type Delivery, viewDelivery } from "./delivery.ts";
import type { Judgement } from "./judge-attempt.ts";

/** Creates the event that reports the outcome of a delivery to its owner. */
export function deliveryEvent(outcome: "exhausted" | "recovered" | "parked", delivery: Delivery): EventDraft {
  const data = { ...viewDelivery(delivery), changed: ["status"] };
  return draft(`webhook_delivery.${outcome}`, { subject: delivery.id, accountId: delivery.accountId, data });
}

/** Creates the event that reports one attempt. */
export function attemptedEvent(
  { id: deliveryId, endpointId, accountId, eventType }: Pick<Delivery, "id" | "endpointId" | "accountId" | "eventType">,
  { id, number, status, error, durationMs, startedAt }: Attempt,
  outcome: Judgement["outcome"],
): EventDraft {
  const data = {
    ...{ id, delivery_id: deliveryId, endpoint_id: endpointId, event_type: eventType, number, outcome, status, error },
    ...{ duration_ms: durationMs, started_at: startedAt.toISOString() },
  };
  return draft("webhook_delivery.attempted", { subject: endpointId, accountId, data });
}

/**
 * True for a delivery about webhooks themselves. No event reports its failure, or one dead receiver would cause events
 * without end.
 */
export function isAboutWebhooks({ eventType }: Pick<Delivery, "eventType">): boolean {
  return eventType.startsWith("webhook_delivery.") || eventType.startsWith("webhook_endpoint.");
}
