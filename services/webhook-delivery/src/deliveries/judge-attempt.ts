import { hours, minutes, seconds } from "@signalbox/core";

/** What came of one POST. `error` is a stable word when no whole answer came. */
export interface AttemptResult {
  readonly status: number | null;
  readonly error: string | null;
  /** What the receiver asked for with `Retry-After`, in milliseconds from now; null when it asked for nothing. */
  readonly retryAfterMs: number | null;
}

export type Judgement =
  | { readonly outcome: "succeeded" }
  | { readonly outcome: "retry"; readonly delayMs: number }
  | { readonly outcome: "exhausted" }
  /** 410: the receiver says that this endpoint will never want anything again. */
  | { readonly outcome: "gone" };

/** Delays before each attempt, the first included (CONTRACT §6; the example of Standard Webhooks): 75 hours in all. */
export const defaultScheduleMs: readonly number[] = [
  0,
  seconds(5),
  minutes(5),
  minutes(30),
  hours(2),
  hours(5),
  hours(10),
  hours(14),
  hours(20),
  hours(24),
];

/** Answers that say "not now"; every other 3xx and 4xx says "not like this" and gets a short budget. */
const transientStatuses = new Set([408, 425, 429]);
const refusedAttemptsMax = 3;
const retryAfterMsMax = hours(24);
/** Each delay is up to a fifth longer, so that endpoints that failed together do not come back together. */
const jitter = 0.2;

/** Decides what follows attempt `number` (1 for the first). `random` is from 0 to 1. */
export function judgeAttempt(
  result: AttemptResult,
  number: number,
  scheduleMs: readonly number[] = defaultScheduleMs,
  random: number = Math.random(),
): Judgement {
  const { status } = result;
  if (status !== null && status >= 200 && status < 300) return { outcome: "succeeded" };
  if (status === 410) return { outcome: "gone" };
  const scheduledMs = scheduleMs[number];
  const isRefused = status !== null && status >= 300 && status < 500 && !transientStatuses.has(status);
  if (scheduledMs === undefined || (isRefused && number >= refusedAttemptsMax)) return { outcome: "exhausted" };
  const waitMs = scheduledMs * (1 + jitter * random);
  const askedMs = Math.min(result.retryAfterMs ?? 0, retryAfterMsMax);
  return { outcome: "retry", delayMs: Math.round(Math.max(waitMs, askedMs)) };
}

/** Reads `Retry-After` (RFC 9110 §10.2.3), seconds or a date; null for none or rubbish. */
export function retryAfterMs(header: string | string[] | undefined, nowMs: number): number | null {
  if (typeof header !== "string") return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  // Only the form that RFC 9110 tells senders to use: Date.parse takes almost anything for a date.
  const at = /^[A-Z][a-z]{2}, \d{2} /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}
