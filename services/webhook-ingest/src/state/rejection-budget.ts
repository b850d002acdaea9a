import { type Clock, entryLimit, KiB, seconds } from "@signalbox/core";
import { LRUCache } from "lru-cache";

/** Rejections written per source and second: anybody can cause them at any rate. */
const writtenPerSecondMax = 10;
const sourcesRememberedMax = 10_000;
/** A trim reads all kept rows of a source, so it comes after a share of the bound, which is exceeded by that share. */
const trimsPerBound = 16;
const keptBytesMin = 1 * KiB;

/** The rejections that may be written in this second. */
export class RejectionBudget {
  readonly #clock: Clock;
  readonly #written = new Map<string, number>();
  #windowEndsMs = 0;
  /** Bytes of webhooks kept since the last trim, by source. */
  readonly #kept = new LRUCache<string, number>(entryLimit(sourcesRememberedMax));

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

  /** Counts a kept webhook; returns true when those of the source have to be trimmed to a number of bytes. */
  isTrimDue(sourceId: string, bytes: number, bytesMax: number): boolean {
    const kept = (this.#kept.get(sourceId) ?? bytesMax) + Math.max(bytes, keptBytesMin);
    const isDue = kept >= bytesMax / trimsPerBound;
    this.#kept.set(sourceId, isDue ? 0 : kept);
    return isDue;
  }
}
