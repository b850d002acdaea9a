import { attemptOf } from "../deliveries/attempt.ts";
import type { Attempted } from "../sending/attempt-delivery.ts";
import type { LeasedMessage, LeaseRecord } from "./pull-queue.ts";

export type Verdict =
  | { readonly kind: "ack" }
  | { readonly kind: "nack"; readonly delayMs: number | null; readonly reason: string | null }
  | { readonly kind: "expired" }
  /** It could not be signed or lacks a header: nobody has seen it. */
  | { readonly kind: "unsent"; readonly error: string };

/** Words of the log for the ends of leases. */
const words = { ack: null, nack: "nack", expired: "lease-expired" } as const;

/** Builds the attempt that a lease becomes; lists and health read an acknowledgement as an answer 200. */
export function finishedAttempt(leased: LeasedMessage, startedAt: Date, endedAt: Date, verdict: Verdict): Attempted {
  const status = verdict.kind === "ack" ? 200 : null;
  const error = verdict.kind === "unsent" ? verdict.error : words[verdict.kind];
  const durationMs = Math.max(0, endedAt.getTime() - startedAt.getTime());
  const { delayMs, reason } = verdict.kind === "nack" ? verdict : { delayMs: null, reason: null };
  // PostgreSQL cannot store U+0000 in a text.
  const response = reason?.replaceAll("\0", "\ufffd") ?? null;
  const attempt = attemptOf(leased, { id: leased.leaseId, startedAt, durationMs, status, error, response });
  return { attempt, result: { status, error, retryAfterMs: null, control: null, delayMs } };
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
  if (error === words.nack) return wanted === "nack" ? "done" : "given-back";
  return "expired";
}
