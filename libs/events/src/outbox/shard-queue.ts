/** Shards that have something to publish, each worked on by one lane at a time. */
export interface ShardQueue {
  /** Marks shards as having work. A shard that is being worked on comes again afterwards. */
  add(shards: Iterable<number>): void;
  /** The next shard with work, or undefined once closed. Give it back with `done`. */
  take(): Promise<number | undefined>;
  done(shard: number): void;
  close(): void;
}

export function createShardQueue(): ShardQueue {
  const due = new Set<number>();
  const busy = new Set<number>();
  const takers: ((shard: number | undefined) => void)[] = [];
  let closed = false;

  function handOut(): void {
    for (const shard of due) {
      if (takers.length === 0) return;
      if (busy.has(shard)) continue;
      due.delete(shard);
      busy.add(shard);
      takers.shift()?.(shard);
    }
  }

  return {
    add(shards) {
      for (const shard of shards) due.add(shard);
      handOut();
    },
    take() {
      if (closed) return Promise.resolve(undefined);
      const { promise, resolve } = Promise.withResolvers<number | undefined>();
      takers.push(resolve);
      handOut();
      return promise;
    },
    done(shard) {
      busy.delete(shard);
      handOut();
    },
    close() {
      closed = true;
      for (const taker of takers.splice(0)) taker(undefined);
    },
  };
}
