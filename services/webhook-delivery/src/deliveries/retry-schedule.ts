import { hours, seconds } from "@signalbox/core";
import { defaultScheduleMs } from "../endpoints/endpoint-settings.ts";

/** Result of one POST. `error` is a stable word when no whole answer came. */
export interface AttemptResult {
  readonly status: number | null;
  readonly error: string | null;
  /** Milliseconds from now that the receiver asked for with `Retry-After`; null without the header. */
  readonly retryAfterMs: number | null;
  /** Instruction of the receiver in the header `webhook-delivery`. */
  readonly control: DeliveryControl | null;
  /** Delay that a consumer chose instead of that of the schedule. */
  readonly delayMs?: number | null;
}

/** Instructions of a receiver: give up this message, or disable the endpoint. */
export type DeliveryControl = "abort-message" | "disable";

export type Judgement =
  | { readonly outcome: "succeeded" }
  | { readonly outcome: "retry"; readonly delayMs: number }
  | { readonly outcome: "exhausted" }
  /** The receiver wants nothing for this endpoint any more. */
  | { readonly outcome: "gone" }
  /** A probe of a disabled endpoint failed. It does not count against the delivery. */
  | { readonly outcome: "held" };

/** Statuses that mean "not now". Every other 3xx and 4xx means "not like this" and gets few attempts. */
const transientStatuses = new Set([408, 425, 429]);
const refusedAttemptsMax = 3;
const retryAfterMsMax = hours(24);
/** Each delay is up to a fifth longer, so that endpoints that failed together are not retried together. */
const jitter = 0.2;

/** Decides what follows attempt `number`. A schedule of zeros would post all at once, hence `delayMsMin`. */
export function judgeAttempt(
  result: AttemptResult,
  number: number,
  scheduleMs: readonly number[] = defaultScheduleMs,
  random: number = Math.random(),
  delayMsMin: number = seconds(1),
): Judgement {
  const { status } = result;
  if (isSuccess(status)) return { outcome: "succeeded" };
  if (disableReason(result) !== null) return { outcome: "gone" };
  if (result.control === "abort-message") return { outcome: "exhausted" };
  const scheduledMs = scheduleMs[number];
  const isRefused = status !== null && status >= 300 && status < 500 && !transientStatuses.has(status);
  if (scheduledMs === undefined || (isRefused && number >= refusedAttemptsMax)) return { outcome: "exhausted" };
  if (result.delayMs != null) return { outcome: "retry", delayMs: Math.max(delayMsMin, result.delayMs) };
  const waitMs = Math.max(delayMsMin, scheduledMs * (1 + jitter * random));
  const askedMs = Math.min(result.retryAfterMs ?? 0, retryAfterMsMax);
  return { outcome: "retry", delayMs: Math.round(Math.max(waitMs, askedMs)) };
}

export const isSuccess = (status: number | null): boolean => status !== null && status >= 200 && status < 300;

/** Returns the reason to disable the endpoint, or null. */
export function disableReason({ status, control }: AttemptResult): "gone" | "receiver" | null {
  if (status === 410) return "gone";
  return control === "disable" ? "receiver" : null;
}

/** Reads the header `webhook-delivery`; returns null for unknown words. */
export function controlOf(header: string | string[] | undefined): DeliveryControl | null {
  const words = [header ?? []].flat().flatMap((text) => text.split(",").map((word) => word.trim().toLowerCase()));
  return controls.find((control) => words.includes(control)) ?? null;
}

const controls: readonly DeliveryControl[] = ["disable", "abort-message"];
