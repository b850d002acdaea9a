import type { TimeChoice } from "./time-choice.ts";

const units: ReadonlyArray<readonly [Intl.RelativeTimeFormatUnit, number]> = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** Says how far a time is from now: "3 minutes ago", "in 2 hours". */
export function relativeTime(at: string, nowMs = Date.now()): string {
  const seconds = Math.round((Date.parse(at) - nowMs) / 1000);
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  return relative.format(Math.trunc(seconds / size), unit);
}

const day = { year: "numeric", month: "short", day: "numeric" } as const;
const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short" } as const;

/** Writes a time with its zone, to the second or the millisecond, in the zone and by the clock of a choice. */
export function exactTime(at: string, { zone, clock: hours }: TimeChoice, isPrecise = false): string {
  const options = {
    ...day,
    ...clock,
    hour12: hours === "12",
    ...(zone === "utc" && { timeZone: "UTC" }),
    ...(isPrecise && { fractionalSecondDigits: 3 as const }),
  };
  return new Intl.DateTimeFormat("en", options).format(new Date(at));
}

/** Names the zone of a choice, such as "GMT+1". */
export const zoneName = (choice: TimeChoice): string =>
  exactTime(new Date().toISOString(), choice).split(" ").at(-1) ?? "";

/** Writes a length of time: "850 ms", "1.2 s", "3 min", "5 h". */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(1))} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  return `${Number((ms / 3_600_000).toFixed(1))} h`;
}

/** Writes how many of some attempts were delivered; nothing of nothing is no share. */
export function shareText(part: number, whole: number): string {
  if (whole === 0) return "no attempts";
  if (whole === 1) return part === 1 ? "1 attempt, delivered" : "1 attempt, failed";
  return `${percentOf(part, whole)} of ${whole.toLocaleString("en")} attempts delivered`;
}

/** Writes a share of a whole in percent. */
export function percentOf(part: number, whole: number): string {
  if (whole === 0) return "–";
  const share = (100 * part) / whole;
  // A share that is not whole is never rounded up to it.
  return `${share < 100 && share > 99.9 ? 99.9 : Number(share.toFixed(1))} %`;
}
