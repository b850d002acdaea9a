import type { Clock } from "@signalbox/core";
import type { BroadcastReader } from "./event-log.ts";

/** A reader that has heard nothing for this long is not up to date, whatever it knows. */
const silenceMsMax = 30_000;

/** Keeps how far a broadcast reader is, in the same way on both adapters. */
export class ReaderProgress implements Omit<BroadcastReader, "close"> {
  readonly caughtUp: Promise<void>;
  readonly ended: Promise<void>;
  readonly #caughtUp = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #clock: Clock;
  #currentMs: number;
  #isCaughtUp = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#currentMs = clock.steadyMs();
    this.caughtUp = this.#caughtUp.promise;
    this.ended = this.#ended.promise;
    this.caughtUp.catch(() => {}); // told to whoever asks
    this.ended.catch(() => {});
  }

  isCaughtUp(): boolean {
    return this.#isCaughtUp;
  }

  /** Records that the reader has everything that the log had a moment ago. */
  markCurrent(): void {
    this.#currentMs = this.#clock.steadyMs();
    this.#isCaughtUp = true;
    this.#caughtUp.resolve();
  }

  /** Settles with the work of the reader. Never rejects. */
  follow(work: Promise<void>): Promise<void> {
    return work.then(
      () => this.#ended.resolve(),
      (error: unknown) => {
        this.#caughtUp.reject(error);
        this.#ended.reject(error);
      },
    );
  }

  ageMs(): number {
    return this.#clock.steadyMs() - this.#currentMs;
  }

  health(): string | null {
    const ageMs = this.ageMs();
    return ageMs < silenceMsMax ? null : `the reader has heard nothing for ${Math.round(ageMs / 1000)} s`;
  }
}
