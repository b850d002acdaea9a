import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "@signalbox/core";
import type { Logger, Outage } from "@signalbox/runtime";
import { createWakeUp } from "@signalbox/runtime";
import { type Pool, sql } from "@signalbox/storage";
import { type BroadcastOptions, type BroadcastReader, beginningOf, UnknownTopic } from "../log/event-log.ts";
import { ReaderProgress } from "../log/reader-progress.ts";
import type { ReplacedTopics } from "../log/replaced-topics.ts";
import { readRecords } from "./log-records.ts";
import type { TopicCache } from "./topic-cache.ts";
import type { WakeUps } from "./wake-ups.ts";

interface Parts {
  readonly pool: Pool;
  readonly ping: () => Promise<unknown>;
  readonly topics: TopicCache;
  readonly wakeUps: WakeUps;
  readonly log: Logger;
  readonly replacedTopics: ReplacedTopics;
  readonly clock: Clock;
}

interface Position {
  /** Differs for a topic that was made again, and for one of another database. */
  readonly identity: string;
  readonly partitionId: number;
  readonly topic: string;
  readonly partition: number;
  next: bigint;
}

interface PartitionRow {
  readonly id: number;
  readonly database: string;
  readonly topic: string;
  readonly partition: number;
  readonly first_offset: bigint;
  readonly next_offset: bigint;
}

const pollMs = 500;
const retryMs = 1_000;

const partitions = sql(
  "log.partitions",
  `select id, topic, partition, first_offset, next_offset,
     (select concat_ws('/', system_identifier, oid) from pg_control_system(), pg_database
      where datname = current_database()) as database
   from signalbox.log_partition where topic = any ($1)`,
);

/** Opens a reader of every partition of the topics, for this instance alone. It stores nothing. */
export function openPostgresBroadcast(parts: Parts, options: BroadcastOptions): BroadcastReader {
  const progress = new ReaderProgress(parts.clock, parts.ping);
  const reader = new PostgresReader(parts, options, progress);
  const stopListening = parts.wakeUps.listen({ topics: options.topics, onRecords: reader.wake });
  const finished = progress.follow(reader.run());
  return Object.assign(progress, {
    async close() {
      reader.stop();
      stopListening();
      await finished;
    },
  });
}

class PostgresReader {
  readonly wake: () => void;
  readonly #parts: Parts;
  readonly #options: BroadcastOptions;
  readonly #progress: ReaderProgress;
  readonly #outage: Outage;
  readonly #part: string;
  readonly #closing = new AbortController();
  readonly #news = createWakeUp(pollMs);
  /** By topic and partition; null before the first read. */
  #positions: Map<string, Position> | null = null;

  constructor(parts: Parts, options: BroadcastOptions, progress: ReaderProgress) {
    this.#parts = parts;
    this.#options = options;
    this.#progress = progress;
    this.#outage = parts.log.outage("The event log");
    this.#part = `reader of ${options.topics.join(", ")}`;
    this.wake = this.#news.wake;
  }

  /** Reads until it is stopped. An outage is waited out; an error of the owner is thrown. */
  async run(): Promise<void> {
    await this.#untilThere();
    while (!this.#isStopped()) {
      this.#news.reset();
      await this.#readAll();
      await this.#news.wait(this.#closing.signal);
    }
  }

  stop(): void {
    this.#closing.abort();
  }

  /** Waits for absent topics: a job of the deployment creates them. */
  async #untilThere(): Promise<void> {
    const { topics } = this.#options;
    await this.#reachable(async () => {
      await this.#parts.topics.find(topics).catch((error: unknown) => {
        if (error instanceof UnknownTopic) this.#progress.markHeard();
        throw error;
      });
      return [];
    });
  }

  /** Reads up to the current ends. */
  async #readAll(): Promise<void> {
    const { topics, from } = this.#options;
    const rows = await this.#reachable(async () => {
      return (await this.#parts.pool.query<PartitionRow>(partitions, [topics])).rows;
    });
    this.#positions ??= new Map(rows.map((row) => [nameOf(row), startOf(row, from)]));
    this.#startAgain(this.#positions, rows);
    for (const row of rows) {
      const position = this.#positions.get(nameOf(row));
      if (position) await this.#readTo(position, row.next_offset);
    }
    if (!this.#isStopped()) this.#progress.markCurrent();
  }

  /** Puts the reader at the beginning of topics that were made again or are in another database. */
  #startAgain(positions: Map<string, Position>, rows: readonly PartitionRow[]): void {
    const replaced = new Set(
      rows.filter((row) => isReplaced(positions.get(nameOf(row)), row)).map(({ topic }) => topic),
    );
    for (const row of rows) if (replaced.has(row.topic)) positions.set(nameOf(row), startOf(row, "start"));
    for (const topic of replaced) this.#parts.replacedTopics.report(topic);
  }

  async #readTo(position: Position, end: bigint): Promise<void> {
    const { partitionId } = position;
    while (position.next < end && !this.#isStopped()) {
      const records = await this.#reachable(() => readRecords(this.#parts.pool, partitionId, position, position.next));
      if (records.length === 0) position.next = end; // compacted or expired
      for (const record of records) {
        if (this.#isStopped()) return;
        await this.#options.onRecord(record);
        position.next = record.offset + 1n;
      }
    }
  }

  /** Repeats the query until the log answers; returns no rows when the reader is stopped meanwhile. */
  async #reachable<T>(query: () => Promise<T[]>): Promise<T[]> {
    while (!this.#isStopped()) {
      try {
        const found = await query();
        this.#progress.markHeard();
        this.#outage.passed(this.#part);
        return found;
      } catch (error) {
        this.#outage.failed(this.#part, error);
        await sleep(retryMs, undefined, { signal: this.#closing.signal }).catch(() => {});
      }
    }
    return [];
  }

  #isStopped(): boolean {
    return this.#closing.signal.aborted;
  }
}

const nameOf = ({ topic, partition }: PartitionRow): string => `${topic}/${partition}`;

const identityOf = ({ database, id }: PartitionRow): string => `${database}/${id}`;

const isReplaced = (position: Position | undefined, row: PartitionRow): boolean =>
  position !== undefined && (position.identity !== identityOf(row) || row.next_offset < position.next);

function startOf(row: PartitionRow, from: BroadcastOptions["from"]): Position {
  const { id: partitionId, topic, partition, first_offset: first, next_offset: end } = row;
  return {
    identity: identityOf(row),
    partitionId,
    topic,
    partition,
    next: beginningOf(from, { topic, partition, first, end }),
  };
}
