import { hours } from "@signalbox/core";

export const dayMs = hours(24);

/** The first moment of the UTC day that a time falls into. */
export const startOfDay = (ms: number): number => Math.floor(ms / dayMs) * dayMs;

/** A stretch of time, from `fromMs` up to but without `toMs`. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

const firstStretchDays = 7;
const growth = 4;
/** Every day of a stretch costs some eight locks, of its table and its indexes, of the few thousand that the whole engine has. */
const stretchDaysMax = 56;

/**
 * The days from `toMs` back to `fromMs`, newest first, in stretches that grow: most readers want the newest, and a statement
 * over all days at once would take a lock on each of them. Give its bounds to a statement without a name, which is planned
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
