import { type Clock, entryLimit, minutes } from "@signalbox/core";
import { LRUCache } from "lru-cache";

interface Window {
  readonly startsMs: number;
  taken: number;
  refused: number;
}

/** Windows of a source: the current and the previous one. */
interface Windows {
  now: Window;
  before: Window;
}

const windowMs = minutes(5);
/** Fewer webhooks than this prove nothing. */
const webhooksMin = 20;
const sourcesMax = 10_000;

/**
 * Counts the sources that had most of their webhooks refused in the last five to ten minutes: their secret is wrong, or
 * somebody forges webhooks. Source ids are no metric labels, so the alert is on their number.
 */
export function createRefusedShares(clock: Pick<Clock, "nowMs">) {
  const windows = new LRUCache<string, Windows>(entryLimit(sourcesMax));
  const empty = (startsMs: number): Window => ({ startsMs, taken: 0, refused: 0 });

  /** Returns the windows of a source at this time. */
  function current(known: Windows | undefined): Windows {
    const startsMs = Math.floor(clock.nowMs() / windowMs) * windowMs;
    if (known?.now.startsMs === startsMs) return known;
    const isNext = known?.now.startsMs === startsMs - windowMs;
    return { now: empty(startsMs), before: isNext ? known.now : empty(startsMs - windowMs) };
  }

  return {
    count(sourceId: string, isRefused: boolean): void {
      const known = windows.get(sourceId);
      const counted = current(known);
      if (isRefused) counted.now.refused++;
      else counted.now.taken++;
      if (counted !== known) windows.set(sourceId, counted);
    },

    /** Returns the sources with more than half of their webhooks refused. */
    mostlyRefused(): string[] {
      return [...windows.entries()].flatMap(([sourceId, known]) => {
        const { now, before } = current(known);
        const [taken, refused] = [now.taken + before.taken, now.refused + before.refused];
        return refused > taken && taken + refused >= webhooksMin ? [sourceId] : [];
      });
    },
  };
}
