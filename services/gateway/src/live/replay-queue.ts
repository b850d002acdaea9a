import type { LiveStream } from "./live-stream.ts";

const runningMax = 8;
/** A slow reader keeps its place for minutes: nobody keeps all of them. */
const runningMaxOfOne = 2;

/**
 * Runs eight replays at the same time, at most two of one payer. The others wait in line, where payers take turns; a
 * replay leaves the line when its stream is over.
 */
export class ReplayQueue {
  /** The replays in line, by payer: the payer whose turn is next comes first. */
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #running = new Map<string, number>();
  #count = 0;

  /** Runs a replay in its turn; never when its stream ends before. */
  async run(payer: string, { over }: Pick<LiveStream, "over">, replay: () => Promise<void>): Promise<void> {
    if (!(await this.#turn(payer, over))) return;
    try {
      await replay();
    } finally {
      this.#count--;
      const left = (this.#running.get(payer) ?? 1) - 1;
      if (left > 0) this.#running.set(payer, left);
      else this.#running.delete(payer);
      this.#next();
    }
  }

  /** Resolves to true with a place, and to false when the stream was over before. */
  async #turn(payer: string, over: Promise<void>): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const line = this.#waiting.get(payer) ?? new Set();
    this.#waiting.set(payer, line.add(resolve));
    this.#next();
    await Promise.race([promise, over]);
    const hasLeft = line.delete(resolve); // its place was given to nobody yet
    if (line.size === 0 && this.#waiting.get(payer) === line) this.#waiting.delete(payer);
    return !hasLeft;
  }

  /** Gives free places to the payers whose turn it is. */
  #next(): void {
    for (const [payer, line] of [...this.#waiting]) {
      const running = this.#running.get(payer) ?? 0;
      const [first] = line;
      if (this.#count >= runningMax) return;
      if (running >= runningMaxOfOne || !first) continue;
      line.delete(first);
      this.#waiting.delete(payer);
      if (line.size > 0) this.#waiting.set(payer, line); // the last in line again
      this.#running.set(payer, running + 1);
      this.#count++;
      first();
    }
  }
}
