import { type Clock, seconds } from "@signalbox/core";

/** The outcome of a fetch; `unknown` when it was aborted before. */
type FetchEnd = "answered" | "failed" | "unknown";

const windowMs = seconds(10);
const fetchesMin = 20;
const failedShare = 0.5;
const openMs = seconds(5);

/**
 * Circuit breaker of a subgraph: when half of at least 20 fetches of the last ten seconds have failed, none is sent for
 * five seconds. Then one is, and its outcome decides.
 */
export class CircuitBreaker {
  readonly #clock: Clock;
  /** Outcomes of the last ten seconds, the oldest first. */
  #ends: { readonly atMs: number; readonly failed: boolean }[] = [];
  #openUntilMs: number | null = null;
  #isProbing = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isOpen(): boolean {
    return this.#openUntilMs !== null;
  }

  /** Admits a fetch and returns the callback for its outcome; null when it must not be sent. */
  enter(): ((end: FetchEnd) => void) | null {
    if (this.#openUntilMs === null) return (end) => this.#count(end);
    if (this.#isProbing || this.#clock.steadyMs() < this.#openUntilMs) return null;
    this.#isProbing = true;
    return (end) => this.#probed(end);
  }

  #count(end: FetchEnd): void {
    if (end === "unknown" || this.isOpen) return;
    const nowMs = this.#clock.steadyMs();
    this.#ends.push({ atMs: nowMs, failed: end === "failed" });
    if (end === "answered") {
      // The list is only scanned after a failure, and must not grow until then.
      if (this.#ends.length > 10_000) this.#ends = this.#ends.slice(-5_000);
      return;
    }
    this.#ends = this.#ends.filter(({ atMs }) => atMs > nowMs - windowMs);
    const failed = this.#ends.filter((one) => one.failed).length;
    if (this.#ends.length >= fetchesMin && failed >= this.#ends.length * failedShare) this.#open();
  }

  #probed(end: FetchEnd): void {
    this.#isProbing = false;
    if (end === "failed") this.#open();
    else if (end === "answered") this.#openUntilMs = null;
  }

  #open(): void {
    this.#ends = [];
    this.#openUntilMs = this.#clock.steadyMs() + openMs;
  }
}
