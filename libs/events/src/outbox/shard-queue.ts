/**
 * The result of work on shards: nothing is left, there is more to publish, they have to wait for the next signal, or it
 * failed and is tried again after a pause.
 */
export type ShardOutcome = "emptied" | "more" | "left" | "failed";

/** Pages published at the same time: each takes one connection, and the broker's answer is what they wait for. */
export const relayLanes = 4;
/** Shards that failed may take this many of the lanes; the others stay free for those that can be published. */
const failingLanes = 2;
const pauseMaxMs = 2_000;

/**
 * Shards that have something to publish, each worked on by one lane at a time. They travel together, so that a page holds
 * what many writers committed, until one has more than fits a page or fails: from then until it is empty it travels alone.
 */
export interface ShardQueue {
  /** Marks shards as having work. A shard that is being worked on comes again afterwards. */
  add(shards: Iterable<number>): void;
  /** The next shards to publish as one page, in ascending order, or undefined once closed. Give them back with `done`. */
  take(): Promise<readonly number[] | undefined>;
  done(shards: readonly number[], outcome: ShardOutcome): void;
  /** True when the last work on the shard failed. */
  isFailing(shard: number): boolean;
  close(): void;
}

/** Shards whose last work failed: they rest before they are tried again. */
class FailingShards {
  readonly #failures = new Map<number, number>();
  readonly #resting = new Map<number, NodeJS.Timeout>();

  has(shard: number): boolean {
    return this.#failures.has(shard);
  }

  isResting(shard: number): boolean {
    return this.#resting.has(shard);
  }

  /** Longer after each failure in a row, and never the same, so that shards do not fail in step. */
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
