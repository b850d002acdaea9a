import { hours } from "@signalbox/core";

export const dayMs = hours(24);

/** The first moment of the UTC day that a time falls into. */
export const startOfDay = (ms: number): number => Math.floor(ms / dayMs) * dayMs;

/** No UUIDv7 of this moment or later is smaller (RFC 9562 §5.7: the first 48 bits are the milliseconds). */
export function firstIdAt(ms: number): string {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** When a UUIDv7 was made. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** The table that has the entries of one day. */
export const tableOfDay = (startMs: number): string =>
  `audit_entries_${new Date(startMs).toISOString().slice(0, 10).replaceAll("-", "")}`;

/** The day that a table has the entries of; null for a table that is of no day. */
export function dayOfTable(table: string): number | null {
  const [, year, month, day] = /^audit_entries_([0-9]{4})([0-9]{2})([0-9]{2})$/.exec(table) ?? [];
  return year === undefined ? null : Date.parse(`${year}-${month}-${day}T00:00:00.000Z`);
}

/** A stretch of time, from `fromMs` up to but without `toMs`. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

const firstStretchDays = 7;
const growth = 4;
/** Every day of a stretch costs eight locks, of its table and its indexes, of the few thousand that the whole engine has. */
const stretchDaysMax = 56;

/**
 * The days from `toMs` back to `fromMs`, newest first, in stretches that grow: most readers want the newest, and a statement
 * over all days at once would take a lock on each of them.
 */
export function* stretchesBack({ fromMs, toMs }: Stretch): Generator<Stretch> {
  let end = toMs;
  for (let days = firstStretchDays; end > fromMs; days = Math.min(days * growth, stretchDaysMax)) {
    const start = Math.max(fromMs, startOfDay(end) - days * dayMs);
    yield { fromMs: start, toMs: end };
    end = start;
  }
}
