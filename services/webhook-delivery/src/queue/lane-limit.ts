import { seconds } from "@signalbox/core";

/** Limit of concurrent attempts of an endpoint without measurements. */
export const firstLimit = 16;
/** Attempts longer than this are slow: they hold a place so long that other endpoints would notice. */
const slowMs = seconds(2);
/** Number of last attempts that decide if an endpoint is slow. */
const windowSize = 32;
const slowShare = 0.1;

/** Measurement of one attempt. */
export interface LaneSample {
  /** True after a timeout or a 429. */
  readonly overloaded: boolean;
  readonly succeeded: boolean;
  readonly durationMs: number;
  readonly startedMs: number;
  readonly endedMs: number;
}

/**
 * Adaptive limit of concurrent attempts of an endpoint: it grows by one with each success while it is fully used, and
 * halves with each overload, down to 1. Attempts that were running when it was halved do not halve it again.
 */
export class LaneLimit {
  /** Upper bound, set by the owner or the service. */
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

  /** True once an attempt has ended. */
  get isTried(): boolean {
    return this.#slow.length > 0;
  }

  /**
   * True when more than a tenth of the last attempts were slow, or the last one timed out. A slow endpoint shares the
   * slow places.
   */
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
