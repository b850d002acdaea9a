import { draft, type EventDraft } from "@signalbox/contracts";
import { type Delivery, viewDelivery } from "./delivery.ts";

/** What its owner is told about a delivery. */
export function deliveryEvent(outcome: "exhausted" | "recovered" | "parked", delivery: Delivery): EventDraft {
  const data = { ...viewDelivery(delivery), changed: ["status"] };
  return draft(`webhook_delivery.${outcome}`, { subject: delivery.id, accountId: delivery.accountId, data });
}

/** What failed to be told about webhooks is not told about again, or one dead receiver would never fall silent. */
export function isAboutWebhooks({ eventType }: Pick<Delivery, "eventType">): boolean {
  return eventType.startsWith("webhook_delivery.") || eventType.startsWith("webhook_endpoint.");
}
