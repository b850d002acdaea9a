import { type Clock, seconds } from "@signalbox/core";

/**
 * Rejections written per source and second, each with its event. Anybody can cause rejections at any rate, so the writes
 * are bounded.
 */
const writtenPerSecondMax = 10;
const sourcesRememberedMax = 10_000;

/** The rejections that may be written in this second. */
export class RejectionBudget {
  readonly #clock: Clock;
  readonly #written = new Map<string, number>();
  #windowEndsMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a rejection of a source. The first of each second is logged; beyond the bound none is written. */
  take(sourceId: string): { readonly isFirst: boolean; readonly isWithin: boolean } {
    const nowMs = this.#clock.nowMs();
    if (nowMs >= this.#windowEndsMs || this.#written.size >= sourcesRememberedMax) {
      this.#written.clear();
      this.#windowEndsMs = nowMs + seconds(1);
    }
    const nth = (this.#written.get(sourceId) ?? 0) + 1;
    this.#written.set(sourceId, nth);
    return { isFirst: nth === 1, isWithin: nth <= writtenPerSecondMax };
  }
}
