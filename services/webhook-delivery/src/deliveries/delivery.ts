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
  /** Attempts made so far. */
  readonly attempts: number;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  /** The time of the event. */
  readonly createdAt: Date;
  readonly lastAttemptAt: Date | null;
  readonly nextAttemptAt: Date | null;
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
  /** The replay that queued it. */
  readonly replayId: string | null;
  /** Key and position in the order; null when the endpoint was not ordered at the time of the event. */
  readonly orderKey: string | null;
  readonly sequence: number | null;
  /** Time at which it became due, by the database's clock: its place in the queue when it is handed back. */
  readonly dueAt: string;
  /** Also the fencing token: an instance that takes the delivery over writes another time. */
  readonly leasedUntil: Date;
}

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

const statusAfter = { exhausted: "exhausted", recovered: "succeeded", parked: "parked" } as const;

export function deliveryEvent(outcome: "exhausted" | "recovered" | "parked", delivery: Delivery): EventDraft {
  const status = statusAfter[outcome];
  const data = { ...viewDelivery({ ...delivery, status }), status, changed: ["status"] };
  return draft(`webhook_delivery.${outcome}`, { subject: delivery.id, accountId: delivery.accountId, data });
}

/**
 * True for a delivery about webhooks themselves. No event reports its failure, or one dead receiver would cause events
 * without end.
 */
export function isAboutWebhooks({ eventType }: LeasedDelivery | Delivery): boolean {
  return eventType.startsWith("webhook_delivery.") || eventType.startsWith("webhook_endpoint.");
}
