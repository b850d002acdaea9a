import type { LiveStream } from "./live-stream.ts";

const runningMax = 8;

/** Runs eight replays at the same time. The others wait in line, which they leave when their stream is over. */
export class ReplayQueue {
  readonly #waiting = new Set<() => void>();
  #running = 0;

  /** Runs a replay in its turn; never when its stream ends before. */
  async run({ over }: Pick<LiveStream, "over">, replay: () => Promise<void>): Promise<void> {
    if (this.#running < runningMax) this.#running++;
    else if (!(await this.#turn(over))) return;
    try {
      await replay();
    } finally {
      this.#passOn();
    }
  }

  async #turn(over: Promise<void>): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    await Promise.race([promise, over]);
    // Whoever left the line by its turn has a place, which it passes on even when its stream is over.
    return !this.#waiting.delete(resolve);
  }

  #passOn(): void {
    const [next] = this.#waiting;
    if (!next) this.#running--;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}
