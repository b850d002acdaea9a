import type { Clock } from "@signalbox/core";
import type { BroadcastReader } from "./event-log.ts";
import { createLiveness } from "./liveness.ts";

/** A healthy log is heard many times within this time, even without news. */
const silenceMsMax = 30_000;

/** Tracks the progress of a broadcast reader, alike on both adapters. */
export class ReaderProgress implements Omit<BroadcastReader, "close"> {
  readonly caughtUp: Promise<void>;
  readonly ended: Promise<void>;
  readonly #caughtUp = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #clock: Clock;
  readonly #liveness: () => Promise<string | null>;
  #heardMs: number;
  #currentMs: number;
  #isCaughtUp = false;
  #failure: string | null = null;

  constructor(clock: Clock, ping: () => Promise<unknown>) {
    this.#clock = clock;
    this.#liveness = createLiveness({ health: () => this.health(), ping, clock });
    this.#heardMs = clock.steadyMs();
    this.#currentMs = clock.steadyMs();
    this.caughtUp = this.#caughtUp.promise;
    this.ended = this.#ended.promise;
    this.caughtUp.catch(() => {}); // callers handle it
    this.ended.catch(() => {});
  }

  isCaughtUp(): boolean {
    return this.#isCaughtUp;
  }

  /** Notes that the log has answered. */
  markHeard(): void {
    this.#heardMs = this.#clock.steadyMs();
  }

  /** Notes that the reader has everything that the log had at this time (default: now). */
  markCurrent(atMs = this.#clock.steadyMs()): void {
    this.#currentMs = Math.max(this.#currentMs, atMs);
    this.#isCaughtUp = true;
    this.#caughtUp.resolve();
  }

  /** Settles with the work of the reader. Never rejects. */
  follow(work: Promise<void>): Promise<void> {
    return work.then(
      () => this.#ended.resolve(),
      (error: unknown) => {
        this.#failure = `the reader has ended: ${(error as Error).message}`;
        this.#caughtUp.reject(error);
        this.#ended.reject(error);
      },
    );
  }

  ageMs(): number {
    return this.#clock.steadyMs() - this.#currentMs;
  }

  health(): string | null {
    if (this.#failure) return this.#failure;
    const silentMs = this.#clock.steadyMs() - this.#heardMs;
    return silentMs < silenceMsMax ? null : `the reader has heard nothing for ${Math.round(silentMs / 1000)} s`;
  }

  async liveness(): Promise<string | null> {
    return this.#failure ?? this.#liveness();
  }
}
