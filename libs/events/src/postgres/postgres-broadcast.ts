import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "@signalbox/core";
import { createWakeUp } from "@signalbox/runtime";
import { type Pool, sql } from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";
import { type BroadcastOptions, type BroadcastReader, UnknownTopic } from "../event-log.ts";
import { readRecords } from "./read-records.ts";
import type { TopicDirectory } from "./topic-directory.ts";
import type { WakeUps } from "./wake-ups.ts";

interface Parts {
  readonly pool: Pool;
  readonly topics: TopicDirectory;
  readonly wakeUps: WakeUps;
  readonly log: Logger;
  readonly clock: Clock;
}

interface Position {
  readonly partitionId: number;
  readonly topic: string;
  readonly partition: number;
  next: bigint;
}

interface PartitionRow {
  readonly id: number;
  readonly topic: string;
  readonly partition: number;
  readonly first_offset: bigint;
  readonly next_offset: bigint;
}

const pollMs = 500;
const retryMs = 1_000;
const silenceMs = 30_000;

const partitions = sql(
  "log.partitions",
  "select id, topic, partition, first_offset, next_offset from signalbox.log_partition where topic = any ($1)",
);

/** Reads every partition of the topics for this instance alone. Nothing is written down. */
export function openPostgresBroadcast(
  { pool, topics, wakeUps, log, clock }: Parts,
  { topics: names, from, onRecord }: BroadcastOptions,
): BroadcastReader {
  const closing = new AbortController();
  const caughtUp = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  caughtUp.promise.catch(() => {});
  ended.promise.catch(() => {});
  const news = createWakeUp(pollMs);
  const stopListening = wakeUps.listen({ topics: names, onRecords: news.wake });
  let positions: Map<number, Position> | null = null;
  let currentMs = clock.steadyMs();

  /** Reads up to the ends of this moment. An outage is retried; an error of the owner is not ours to hide. */
  async function readAll(): Promise<void> {
    const rows = await reachable(() => pool.query<PartitionRow>(partitions, [names]).then((result) => result.rows));
    positions ??= new Map(rows.map((row) => [row.id, startOf(row, from)]));
    for (const { id, next_offset: end } of rows) {
      const position = positions.get(id);
      if (position) await readTo(position, end);
    }
    if (closing.signal.aborted) return;
    currentMs = clock.steadyMs();
    caughtUp.resolve();
  }

  async function readTo(position: Position, end: bigint): Promise<void> {
    while (position.next < end && !closing.signal.aborted) {
      const records = await reachable(() => readRecords(pool, position.partitionId, position, position.next));
      if (records.length === 0) position.next = end; // compacted or expired
      for (const record of records) {
        if (closing.signal.aborted) return;
        await onRecord(record);
        position.next = record.offset + 1n;
      }
    }
  }

  async function reachable<T>(query: () => Promise<T[]>): Promise<T[]> {
    while (!closing.signal.aborted) {
      try {
        return await query();
      } catch (error) {
        log.warn({ error }, "a reader cannot reach the event log and tries again");
        await sleep(retryMs, undefined, { signal: closing.signal }).catch(() => {});
      }
    }
    return [];
  }

  async function run(): Promise<void> {
    await topics.find(names).catch((error: unknown) => {
      if (error instanceof UnknownTopic) throw error; // anything else shows again in the first read
    });
    while (!closing.signal.aborted) {
      news.reset();
      await readAll();
      await news.wait(closing.signal);
    }
  }

  const finished = run().then(ended.resolve, (error: unknown) => {
    caughtUp.reject(error);
    ended.reject(error);
  });

  const ageMs = () => clock.steadyMs() - currentMs;
  return {
    caughtUp: caughtUp.promise,
    ageMs,
    health: () => (ageMs() < silenceMs ? null : `the reader has heard nothing for ${Math.round(ageMs() / 1000)} s`),
    ended: ended.promise,
    async close() {
      closing.abort();
      stopListening();
      await finished;
    },
  };
}

function startOf(row: PartitionRow, from: "start" | "end"): Position {
  const { id: partitionId, topic, partition } = row;
  return { partitionId, topic, partition, next: from === "start" ? row.first_offset : row.next_offset };
}
