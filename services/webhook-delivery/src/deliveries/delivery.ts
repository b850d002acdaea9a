import { draft, type EventDraft, viewOf, WebhookDeliveryResource } from "@signalbox/contracts";
import { splitId } from "../endpoints/endpoint-id.ts";
import type { Delivery as Row } from "../generated/prisma/client.ts";

/** One delivery of one event to one endpoint. Its `createdAt` is the time of the event. */
export interface Delivery extends Omit<Row, "status" | "exhaustedAt" | "orderKey" | "sequence"> {
  readonly status: WebhookDeliveryResource["status"];
}

/** A delivery leased by this instance, with everything an attempt needs besides its endpoint. */
export interface LeasedDelivery
  extends Omit<Delivery, "status" | "lastStatus" | "lastError" | "lastAttemptAt" | "nextAttemptAt"> {
  readonly body: Buffer;
  readonly traceparent: string | null;
  /** True when it was exhausted before this retry. */
  readonly wasExhausted: boolean;
  /** `probe` checks a disabled endpoint; `test` shows its owner the result. */
  readonly purpose: "delivery" | "probe" | "test";
  readonly replayId: string | null;
  /** Key and position in the order; null when the endpoint was not ordered at the time of the event. */
  readonly orderKey: string | null;
  readonly sequence: number | null;
  /** Time at which it became due, by the database's clock: its place in the queue when it is handed back. */
  readonly dueAt: string;
  /** Also the fencing token: an instance that takes the delivery over writes another time. */
  readonly leasedUntil: Date;
}

export const viewDelivery = viewOf(WebhookDeliveryResource, ({ endpointId, status, nextAttemptAt }: Delivery) => ({
  endpoint_id: splitId(endpointId).endpointId,
  consumer: splitId(endpointId).consumer,
  next_attempt_at: status === "pending" ? nextAttemptAt : null,
}));

const statusAfter = { exhausted: "exhausted", recovered: "succeeded", parked: "parked" } as const;

export function deliveryEvent(outcome: "exhausted" | "recovered" | "parked", delivery: Delivery): EventDraft {
  const status = statusAfter[outcome];
  const data = { ...viewDelivery({ ...delivery, status }), status, changed: ["status"] };
  return draft(`webhook_delivery.${outcome}`, { subject: delivery.id, accountId: delivery.accountId, data });
}

/** True for a delivery about webhooks: no event reports its failure, or a dead receiver caused them without end. */
export function isAboutWebhooks({ eventType }: LeasedDelivery | Delivery): boolean {
  return eventType.startsWith("webhook_delivery.") || eventType.startsWith("webhook_endpoint.");
}
