import type { Attempt } from "../deliveries/attempt.ts";
import type { AttemptResult } from "../deliveries/retry-schedule.ts";
import type { LeasedMessage, LeaseRecord } from "./pull-queue.ts";

/** The end of a lease. */
export type Verdict =
  | { readonly kind: "ack" }
  | { readonly kind: "nack"; readonly delayMs: number | null; readonly reason: string | null }
  | { readonly kind: "expired" }
  /** It could not be signed or lacks a header: nobody has seen it. */
  | { readonly kind: "unsent"; readonly error: string };

/** Words of the log for leases without an acknowledgement. */
const nackWord = "nack";
const expiredWord = "lease-expired";

/**
 * Builds the attempt that a lease becomes. An acknowledgement counts as an answer 200, so that lists, statistics and
 * health read it as they read a push; everything else as an attempt without an answer.
 */
export function finishedAttempt(
  leased: LeasedMessage,
  startedAt: Date,
  endedAt: Date,
  verdict: Verdict,
): { readonly attempt: Attempt; readonly result: AttemptResult } {
  const status = verdict.kind === "ack" ? 200 : null;
  const error = errorOf(verdict);
  const attempt: Attempt = {
    id: leased.leaseId,
    deliveryId: leased.id,
    endpointId: leased.endpointId,
    accountId: leased.accountId,
    eventType: leased.eventType,
    number: leased.attempts + 1,
    startedAt,
    durationMs: Math.max(0, endedAt.getTime() - startedAt.getTime()),
    status,
    error,
    // PostgreSQL cannot store U+0000 in a text.
    response: verdict.kind === "nack" ? (verdict.reason?.replaceAll("\0", "\ufffd") ?? null) : null,
    counted: true,
    phase: null,
    decision: null,
    nextAttemptAt: null,
    exchange: null,
  };
  const delayMs = verdict.kind === "nack" ? verdict.delayMs : null;
  return { attempt, result: { status, error, retryAfterMs: null, control: null, delayMs } };
}

function errorOf(verdict: Verdict): string | null {
  switch (verdict.kind) {
    case "ack":
      return null;
    case "nack":
      return nackWord;
    case "expired":
      return expiredWord;
    case "unsent":
      return verdict.error;
  }
}

/** The state of a lease that a caller wants to end. */
export type LeaseOutcome = "done" | "acknowledged" | "given-back" | "expired" | "in-progress";

/** Judges the record of a lease; `done` when it already has the wanted end. */
export function judgeLease(
  { decision, error, counted, endsAt }: LeaseRecord,
  wanted: "ack" | "nack",
  nowMs: number,
): LeaseOutcome {
  if (decision === null) return (endsAt?.getTime() ?? 0) > nowMs ? "in-progress" : "expired";
  if (counted === false) return "expired";
  if (decision === "succeeded") return wanted === "ack" ? "done" : "acknowledged";
  if (error === nackWord) return wanted === "nack" ? "done" : "given-back";
  return "expired";
}
