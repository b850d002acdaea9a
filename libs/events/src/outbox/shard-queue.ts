/** The result of work on shards: nothing is left, there is more to publish, or they have to wait for the next signal. */
export type ShardOutcome = "emptied" | "more" | "left";

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
  close(): void;
}

export function createShardQueue(): ShardQueue {
  const due = new Set<number>();
  const busy = new Set<number>();
  const alone = new Set<number>();
  const takers: ((shards: readonly number[] | undefined) => void)[] = [];
  let closed = false;

  const isTogetherOut = () => [...busy].some((shard) => !alone.has(shard));

  function next(): readonly number[] | undefined {
    const free = [...due].filter((shard) => !busy.has(shard));
    const single = free.find((shard) => alone.has(shard));
    if (single !== undefined) return [single];
    return free.length === 0 || isTogetherOut() ? undefined : free.sort((a, b) => a - b);
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

  return {
    add(shards) {
      for (const shard of shards) due.add(shard);
      handOut();
    },
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
      }
      handOut();
    },
    close() {
      closed = true;
      for (const taker of takers.splice(0)) taker(undefined);
    },
  };
}
