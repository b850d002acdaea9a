const units: ReadonlyArray<readonly [Intl.RelativeTimeFormatUnit, number]> = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const exact = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "long" });

/** Says how far a time is from now: "3 minutes ago", "in 2 hours". */
export function relativeTime(at: string, nowMs = Date.now()): string {
  const seconds = Math.round((Date.parse(at) - nowMs) / 1000);
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  return relative.format(Math.trunc(seconds / size), unit);
}

/** Writes a time to the second, in the zone of the browser. */
export const exactTime = (at: string): string => exact.format(new Date(at));

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
