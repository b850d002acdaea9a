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
export class RefusedShares {
  readonly #clock: Clock;
  readonly #windows = new LRUCache<string, Windows>(entryLimit(sourcesMax));

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  count(sourceId: string, isRefused: boolean): void {
    const known = this.#windows.get(sourceId);
    const counted = this.#current(known);
    if (isRefused) counted.now.refused++;
    else counted.now.taken++;
    if (counted !== known) this.#windows.set(sourceId, counted);
  }

  /** Returns the sources with more than half of their webhooks refused. */
  mostlyRefused(): string[] {
    return [...this.#windows.entries()].flatMap(([sourceId, known]) => {
      const { now, before } = this.#current(known);
      const [taken, refused] = [now.taken + before.taken, now.refused + before.refused];
      return refused > taken && taken + refused >= webhooksMin ? [sourceId] : [];
    });
  }

  /** Returns the windows of a source at this time. */
  #current(known: Windows | undefined): Windows {
    const startsMs = Math.floor(this.#clock.nowMs() / windowMs) * windowMs;
    if (known?.now.startsMs === startsMs) return known;
    const isNext = known?.now.startsMs === startsMs - windowMs;
    return { now: emptyWindow(startsMs), before: isNext ? known.now : emptyWindow(startsMs - windowMs) };
  }
}

const emptyWindow = (startsMs: number): Window => ({ startsMs, taken: 0, refused: 0 });
