import { seconds } from "@signalbox/core";

/** How many attempts an endpoint gets at once before anything is known of it. */
export const firstLimit = 16;
/** Slower than this is slow: an attempt holds its place so long that others would feel it. */
const slowMs = seconds(2);
/** The attempts that tell how fast an endpoint is. */
const windowSize = 32;
const slowShare = 0.1;

/** What one attempt says about how much its endpoint bears. */
export interface LaneSample {
  /** Out of time, or the receiver asked for less (429). */
  readonly overloaded: boolean;
  readonly succeeded: boolean;
  readonly durationMs: number;
  readonly startedMs: number;
  readonly endedMs: number;
}

/**
 * How many attempts at once an endpoint bears: one more for each success while it is full, half as many for each overload,
 * down to a single probe. Attempts that were under way when it was halved say nothing new.
 */
export class LaneLimit {
  /** The owner's or the service's own bound. */
  max: number;
  #limit: number;
  #halvedMs = Number.NEGATIVE_INFINITY;
  readonly #slow: boolean[] = [];
  #slowCount = 0;
  #lastTimedOut = false;

  constructor(max: number) {
    this.max = max;
    this.#limit = Math.min(firstLimit, max);
  }

  get value(): number {
    return Math.min(this.#limit, this.max);
  }

  /** Nine of ten attempts do not end in time, or the last one did not: it shares the places of the slow ones. */
  get isSlow(): boolean {
    return this.#lastTimedOut || this.#slowCount > this.#slow.length * slowShare;
  }

  observe(sample: LaneSample, wasFull: boolean): void {
    const { overloaded, succeeded, durationMs, startedMs, endedMs } = sample;
    this.#lastTimedOut = overloaded && durationMs > 0 && !succeeded && durationMs >= slowMs;
    const isSlow = durationMs > slowMs;
    this.#slow.push(isSlow);
    if (isSlow) this.#slowCount++;
    if (this.#slow.length > windowSize && this.#slow.shift()) this.#slowCount--;
    if (overloaded && startedMs >= this.#halvedMs) {
      this.#limit = Math.max(1, Math.floor(this.value / 2));
      this.#halvedMs = endedMs;
    } else if (succeeded && wasFull && this.#limit < this.max) {
      this.#limit++;
    }
  }
}
