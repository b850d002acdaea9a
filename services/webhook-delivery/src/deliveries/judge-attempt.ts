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

/**
 * Decides what follows attempt `number` (1 for the first). `random` is from 0 to 1. A schedule of zeros would post twenty
 * times at once, so a wait is never shorter than `delayMsMin`.
 */
export function judgeAttempt(
  result: AttemptResult,
  number: number,
  scheduleMs: readonly number[] = defaultScheduleMs,
  random: number = Math.random(),
  delayMsMin: number = seconds(1),
): Judgement {
  const { status } = result;
  if (status !== null && status >= 200 && status < 300) return { outcome: "succeeded" };
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

/**
 * Reads `Retry-After` (RFC 9110 §10.2.3), seconds or a date; the latest of several. Returns null for a missing or
 * unreadable header.
 */
export function retryAfterMs(header: string | string[] | undefined, nowMs: number): number | null {
  const given = [header ?? []].flat().map((one) => waitOf(one.trim(), nowMs));
  const waits = given.filter((ms) => ms !== null);
  return waits.length === 0 ? null : Math.max(...waits);
}

function waitOf(text: string, nowMs: number): number | null {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = httpDateMs(text, nowMs);
  return at === null ? null : Math.max(0, at - nowMs);
}

const monthNames = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const clockTime = "(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)";
/** Date formats (RFC 9110 §5.6.7): the preferred one, and the two obsolete ones that every recipient has to read. */
const httpDates = [
  `[A-Z][a-z]{2}, (?<day>\\d\\d) (?<month>[A-Z][a-z]{2}) (?<year>\\d{4}) ${clockTime} GMT`,
  `[A-Z][a-z]{5,8}, (?<day>\\d\\d)-(?<month>[A-Z][a-z]{2})-(?<year>\\d\\d) ${clockTime} GMT`,
  `[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \\d]\\d) ${clockTime} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`));

function httpDateMs(text: string, nowMs: number): number | null {
  for (const form of httpDates) {
    const parts = form.exec(text)?.groups;
    const month = monthNames.indexOf(parts?.month ?? "");
    if (parts === undefined || month < 0) continue;
    const { day, year = "", hour, minute, second } = parts;
    const fullYear = year.length === 2 ? fullYearOf(Number(year), nowMs) : Number(year);
    return Date.UTC(fullYear, month, Number(day), Number(hour), Number(minute), Number(second));
  }
  return null;
}

/** A year of two digits that seems more than 50 years ahead means the one in the past. */
function fullYearOf(year: number, nowMs: number): number {
  const nowYear = new Date(nowMs).getUTCFullYear();
  const near = nowYear - (nowYear % 100) + year;
  return near > nowYear + 50 ? near - 100 : near;
}
