import type { FreshEntry } from "@signalbox/storage";
import type { Attempt } from "../deliveries/attempt.ts";
import type { LeasedDelivery } from "../deliveries/delivery.ts";
import { splitId } from "../endpoints/endpoint-id.ts";

interface RecordedAttempt {
  readonly delivery: LeasedDelivery;
  readonly attempt: Attempt;
  /** The state of the delivery after it. */
  readonly status: string;
}

/** Returns what an attempt counts for, in the minute in which it ended. A named consumer counts at its endpoint. */
export function entryOf({ delivery, attempt, status }: RecordedAttempt): FreshEntry {
  const isDelivered = status === "succeeded";
  return {
    accountId: delivery.accountId,
    subjectId: splitId(delivery.endpointId).endpointId,
    atMs: attempt.startedAt.getTime() + attempt.durationMs,
    labels: [attempt.eventType, answerClass(attempt.status), attempt.error],
    counts: [1, Number(isDelivered), Number(!isDelivered), Number(status === "exhausted")],
    durationMs: attempt.durationMs,
  };
}

/** `2xx` to `5xx`, or `none` when no answer came. */
export const answerClass = (status: number | null): string =>
  status === null ? "none" : `${Math.floor(status / 100)}xx`;
