import type { SignatureProblem, TimestampTolerance } from "./signature-scheme.ts";

/** Unit in which a sender writes its signed time. */
export type TimeUnit = "s" | "ms" | "s-or-ms" | "rfc3339";

/** Reads Unix seconds: digits only, so that the same time has one spelling. */
export function readSeconds(text: string): number | null {
  return /^\d{1,12}$/.test(text) ? Number(text) : null;
}

const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/** Reads a time in its sender's unit, as Unix seconds with their fraction. */
export function readTime(text: string, unit: TimeUnit): number | null {
  if (unit === "s-or-ms") return readTime(text, text.length > 11 ? "ms" : "s");
  if (unit === "s") return readSeconds(text);
  // A time in seconds is not taken for milliseconds: it would be in January 1970.
  if (unit === "ms") return /^\d{1,15}$/.test(text) ? Number(text) / 1000 : null;
  const ms = instant.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? null : ms / 1000;
}

/** Checks a signed time both ways: an old one may be a replay, one from the future would stay valid too long. */
export function timeProblem(
  timestampSeconds: number,
  { nowSeconds, toleranceSeconds }: TimestampTolerance,
): SignatureProblem | null {
  if (timestampSeconds < nowSeconds - toleranceSeconds) return "timestamp_too_old";
  // Whole seconds on both sides: a sender that writes milliseconds is not a fraction of a second ahead of us.
  if (Math.floor(timestampSeconds) > nowSeconds + toleranceSeconds) return "timestamp_in_future";
  return null;
}
