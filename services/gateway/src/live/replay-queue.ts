import { FairQueue } from "@signalbox/core";

const runningMax = 8;
/** A slow reader keeps its place for minutes: nobody keeps all of them. */
const runningMaxOfOne = 2;

interface Waiting {
  readonly payer: string;
  readonly begin: () => void;
}

/**
 * Runs eight replays at the same time, at most two of one payer. The others wait in line, where payers take turns; a
 * replay leaves the line when its stream is over.
 */
export class ReplayQueue {
  readonly #waiting = new FairQueue<Waiting>();
  /** The payers of the running replays, one entry for each. */
  readonly #running: string[] = [];

  /** Runs a replay in its turn; never when its stream is over before. */
  async run(payer: string, over: Promise<void>, replay: () => Promise<void>): Promise<void> {
    const { promise: turn, resolve: begin } = Promise.withResolvers<void>();
    const waiting = { payer, begin };
    this.#waiting.add(payer, waiting);
    this.#next();
    await Promise.race([turn, over]);
    if (this.#waiting.remove(payer, waiting)) return;
    try {
      await replay();
    } finally {
      this.#running.splice(this.#running.indexOf(payer), 1);
      this.#next();
    }
  }

  /** Gives free places to the payers whose turn it is. */
  #next(): void {
    while (this.#running.length < runningMax) {
      const next = this.#waiting.next((payer) => this.#runningOf(payer) < runningMaxOfOne);
      if (!next) return;
      this.#running.push(next.payer);
      next.begin();
    }
  }

  #runningOf(payer: string): number {
    return this.#running.filter((running) => running === payer).length;
  }
}
