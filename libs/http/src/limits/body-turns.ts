import { FairQueue } from "@signalbox/core";

/**
 * Turns of the work for large bodies: one slice in each turn of the event loop, round the callers. Other requests are
 * served between two slices, however many large bodies one caller sends.
 */
export class BodyTurns {
  readonly #waiting = new FairQueue<() => void>();
  readonly #loop: (next: () => void) => void;
  #isAsked = false;

  constructor(loop: (next: () => void) => void = setImmediate) {
    this.#loop = loop;
  }

  /** Resolves in a turn of the caller. Whoever waits holds a body, so the limit of bodies bounds the queue. */
  turn(caller: string): Promise<void> {
    return new Promise((begin) => {
      this.#waiting.add(caller, begin);
      this.#ask();
    });
  }

  #ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    this.#loop(() => {
      this.#isAsked = false;
      this.#waiting.next()?.();
      if (this.#waiting.length > 0) this.#ask();
    });
  }
}
