/**
 * The result of work on shards: `emptied`, nothing is left; `more` to publish; `left` until the next signal; `failed`,
 * to be retried after a pause.
 */
export type ShardOutcome = "emptied" | "more" | "left" | "failed";

/** Pages published at the same time: each takes one connection and mostly waits for the broker. */
export const relayLanes = 4;
/** Lanes that failing shards may take; the others stay free for healthy ones. */
const failingLanes = 2;
const pauseMaxMs = 2_000;

/**
 * The shards that have rows to publish, each worked on by one lane at a time. They share a page, so that it holds the
 * rows of many writers, until one has more than fits a page or fails: from then until it is empty it is taken alone.
 */
export interface ShardQueue {
  /** Marks shards as having work. A shard that is being worked on comes again afterwards. */
  add(shards: Iterable<number>): void;
  /**
   * Returns the next shards to publish as one page, in ascending order, or undefined once closed. Return them with
   * `done`.
   */
  take(): Promise<readonly number[] | undefined>;
  done(shards: readonly number[], outcome: ShardOutcome): void;
  /** Returns true when the last work on the shard failed. */
  isFailing(shard: number): boolean;
  close(): void;
}

/** The shards whose last work failed: they pause before the next try. */
class FailingShards {
  readonly #failures = new Map<number, number>();
  readonly #resting = new Map<number, NodeJS.Timeout>();

  has(shard: number): boolean {
    return this.#failures.has(shard);
  }

  isResting(shard: number): boolean {
    return this.#resting.has(shard);
  }

  /**
   * Pauses a shard: longer after each consecutive failure, and by a random share, so that shards do not fail in step.
   */
  rest(shard: number, wake: () => void): void {
    const failed = (this.#failures.get(shard) ?? 0) + 1;
    this.#failures.set(shard, failed);
    const pauseMs = Math.min(pauseMaxMs, 50 * 2 ** failed) * (0.5 + Math.random() / 2);
    const end = () => {
      this.#resting.delete(shard);
      wake();
    };
    this.#resting.set(shard, setTimeout(end, pauseMs));
  }

  passed(shard: number): void {
    this.#failures.delete(shard);
  }

  close(): void {
    for (const timer of this.#resting.values()) clearTimeout(timer);
  }
}

export function createShardQueue(): ShardQueue {
  const due = new Set<number>();
  const busy = new Set<number>();
  const alone = new Set<number>();
  const failing = new FailingShards();
  const takers: ((shards: readonly number[] | undefined) => void)[] = [];
  let closed = false;

  const isTogetherOut = () => [...busy].some((shard) => !alone.has(shard));

  function next(): readonly number[] | undefined {
    const free = [...due].filter((shard) => !busy.has(shard) && !failing.isResting(shard));
    const mayFail = [...busy].filter((shard) => failing.has(shard)).length < failingLanes;
    const single =
      free.find((shard) => alone.has(shard) && !failing.has(shard)) ??
      (mayFail ? free.find((shard) => failing.has(shard)) : undefined);
    if (single !== undefined) return [single];
    const together = free.filter((shard) => !failing.has(shard));
    return together.length === 0 || isTogetherOut() ? undefined : together.sort((a, b) => a - b);
  }

  function handOut(): void {
    for (let shards = next(); shards && takers.length > 0; shards = next()) {
      for (const shard of shards) {
        due.delete(shard);
        busy.add(shard);
      }
      takers.shift()?.(shards);
    }
  }

  function add(shards: Iterable<number>): void {
    for (const shard of shards) due.add(shard);
    handOut();
  }

  return {
    add,
    take() {
      if (closed) return Promise.resolve(undefined);
      const { promise, resolve } = Promise.withResolvers<readonly number[] | undefined>();
      takers.push(resolve);
      handOut();
      return promise;
    },
    done(shards, outcome) {
      for (const shard of shards) {
        busy.delete(shard);
        if (outcome === "emptied") alone.delete(shard);
        else alone.add(shard);
        if (outcome === "more") due.add(shard);
        if (outcome !== "failed") failing.passed(shard);
        else if (!closed) failing.rest(shard, () => add([shard]));
      }
      handOut();
    },
    isFailing: (shard) => failing.has(shard),
    close() {
      closed = true;
      failing.close();
      for (const taker of takers.splice(0)) taker(undefined);
    },
  };
}
