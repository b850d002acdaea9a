import { hours } from "@signalbox/core";

export const dayMs = hours(24);

/** Returns the first moment of the UTC day of a time. */
export const startOfDay = (ms: number): number => Math.floor(ms / dayMs) * dayMs;

/** A time range from `fromMs` (included) to `toMs` (excluded). */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

const firstStretchDays = 7;
const growth = 4;
/** Each day of a range takes some eight locks, on its table and indexes, of the few thousand that the engine has. */
const stretchDaysMax = 56;

/**
 * Splits the days from `toMs` back to `fromMs`, newest first, into growing ranges: most readers want the newest, and a
 * statement over all days at once would lock each of them. Pass the bounds to an unnamed statement, which is planned
 * with its values.
 */
export function* stretchesBack({ fromMs, toMs }: Stretch): Generator<Stretch> {
  let end = toMs;
  for (let days = firstStretchDays; end > fromMs; days = Math.min(days * growth, stretchDaysMax)) {
    const start = Math.max(fromMs, startOfDay(end) - days * dayMs);
    yield { fromMs: start, toMs: end };
    end = start;
  }
}
