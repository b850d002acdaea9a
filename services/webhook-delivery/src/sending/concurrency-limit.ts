import { seconds } from "@signalbox/core";

/** Limit of concurrent attempts of an endpoint without measurements. */
export const firstLimit = 16;
/** Attempts longer than this are slow: they hold a place so long that other endpoints would notice. */
const slowMs = seconds(2);
const windowSize = 32;
const slowShare = 0.1;

/** Connections that may be refused in a row before the endpoint is left alone for a while. */
const refusalsFree = 8;
const restMsMin = 100;
const restMsMax = seconds(2);

export interface LaneSample {
  /** True when no connection came about, so that the endpoint was not even asked. */
  readonly refused: boolean;
  /** True after a timeout or a 429. */
  readonly overloaded: boolean;
  readonly succeeded: boolean;
  readonly durationMs: number;
  readonly startedMs: number;
  readonly endedMs: number;
}

/** Adaptive limit of concurrent attempts: one more with each success while it is full, half with each overload. */
export class ConcurrencyLimit {
  /** Upper bound, set by the owner or the service. */
  max: number;
  #limit: number;
  #halvedMs = Number.NEGATIVE_INFINITY;
  readonly #slow: boolean[] = [];
  #slowCount = 0;
  #lastTimedOut = false;
  #refusals = 0;
  #restUntilMs = Number.NEGATIVE_INFINITY;

  constructor(max: number) {
    this.max = max;
    this.#limit = Math.min(firstLimit, max);
  }

  get value(): number {
    return this.#refusals > refusalsFree ? 1 : Math.min(this.#limit, this.max);
  }

  get isTried(): boolean {
    return this.#slow.length > 0;
  }

  /** True when more than a tenth of the last attempts were slow, or the last one timed out. */
  get isSlow(): boolean {
    return this.#lastTimedOut || this.#slowCount > this.#slow.length * slowShare;
  }

  /** Milliseconds without attempts at an endpoint that refuses connections: each costs as much as a delivery. */
  restMs(nowMs: number): number {
    return Math.max(0, this.#restUntilMs - nowMs);
  }

  observe(sample: LaneSample, wasFull: boolean): void {
    this.#countRefusal(sample);
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
  /** Attempts that were under way when a rest began do not prolong it. */
  #countRefusal({ refused, startedMs, endedMs }: LaneSample): void {
    if (!refused) {
      this.#refusals = 0;
      return;
    }
    if (startedMs < this.#restUntilMs) return;
    this.#refusals++;
    const beyond = this.#refusals - refusalsFree;
    if (beyond > 0) this.#restUntilMs = endedMs + Math.min(restMsMax, restMsMin * 2 ** (beyond - 1));
  }
}
