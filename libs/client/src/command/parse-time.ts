import { UsageError } from "./failures.ts";

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a time: RFC 3339, or how long ago, such as `90s`, `15m`, `2h`, `7d`. @throws UsageError naming the option */
export function parseTime(option: string, text: string, nowMs: number): Date {
  const [, count = "", unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = unitMs[unit];
  if (ms !== undefined) return new Date(nowMs - Number(count) * ms);
  const time = new Date(text);
  const [day] = /^\d{4}-\d\d-\d\d/.exec(text) ?? [];
  if (day !== undefined && isDay(day) && !Number.isNaN(time.getTime())) return time;
  throw new UsageError(`Invalid time --${option} ${text}: use 2h, 30m, 7d or 2026-01-31T09:00:00Z.`);
}

/** `Date` takes 30 February for 2 March. */
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}
