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

/** One POST and what came of it. */
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
  /** False for one that came too late: another attempt with its number was recorded first. */
  readonly counted: boolean;
  /** How far it came when no answer was brought. */
  readonly phase: string | null;
  readonly decision: AttemptDecision | null;
  readonly nextAttemptAt: Date | null;
  readonly exchange: Exchange | null;
}

export const attemptDecisions = ["succeeded", "retry", "exhausted", "gone", "held"] as const;
type AttemptDecision = (typeof attemptDecisions)[number];

/** The headers of an attempt, its owner's secrets masked, and how many milliseconds each step took. */
interface Exchange {
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly phases: Readonly<Record<AttemptPhase, number | null>> | null;
}

export const attemptPhases = ["resolve", "connect", "tls", "send", "first_byte", "body"] as const;
export type AttemptPhase = (typeof attemptPhases)[number];

/** The delivery as its owner sees it. */
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
