import type { WebhookDeliveryResource } from "@signalbox/contracts";

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

/** One POST and its result. */
export interface Attempt {
  readonly id: string;
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly accountId: string;
  /** 1 for the first. */
  readonly number: number;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly response: string | null;
  /** False for an attempt that ended too late: another attempt with its number was recorded first. */
  readonly counted: boolean;
  /** Last phase that was reached when no answer came. */
  readonly phase: string | null;
  readonly decision: AttemptDecision | null;
  readonly nextAttemptAt: Date | null;
  readonly exchange: Exchange | null;
}

export const attemptDecisions = ["succeeded", "retry", "exhausted", "gone", "held"] as const;
type AttemptDecision = (typeof attemptDecisions)[number];

/** Headers of an attempt with the owner's secrets masked, and the milliseconds of each phase. */
interface Exchange {
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly phases: Readonly<Record<AttemptPhase, number | null>> | null;
}

export const attemptPhases = ["resolve", "connect", "tls", "send", "first_byte", "body"] as const;
export type AttemptPhase = (typeof attemptPhases)[number];

/** Returns the delivery as its owner sees it. */
export function viewDelivery(delivery: Delivery): WebhookDeliveryResource {
  return {
    id: delivery.id,
    endpoint_id: delivery.endpointId,
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
