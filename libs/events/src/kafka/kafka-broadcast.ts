import { setTimeout as sleep } from "node:timers/promises";
import type { Outage } from "@signalbox/telemetry";
import type { Admin, Consumer, EachBatchPayload } from "kafkajs";
import {
  type BroadcastOptions,
  type BroadcastReader,
  beginningOf,
  type ReceivedRecord,
  type TopicPartition,
  UnknownTopic,
} from "../event-log.ts";
import { ReaderProgress } from "../reader-progress.ts";
import { bootGroup, deleteBootGroup, kafkaRanges, sweepBootGroups } from "./kafka-groups.ts";
import { BreakableClient, consumerSettings, type KafkaParts, runSettings, toReceivedRecord } from "./kafkajs.ts";
import { onFetched } from "./patches/dead-leaders.ts";

const retryMs = 1_000;

/**
 * Reads every record in a group of its own, `<service>.<instance>.boot-<random>`, because kafkajs reads only in groups.
 * It never commits; positions are kept here and sought again after each rebalance. The group is deleted at close, and
 * those of crashed instances at the next open.
 */
export function openKafkaBroadcast(parts: KafkaParts, options: BroadcastOptions): BroadcastReader {
  const { admin, ping, log, clock } = parts;
  const progress = new ReaderProgress(clock, ping);
  const reader = new KafkaReader(parts, options, progress);
  const finished = progress.follow(reader.run());
  void admin()
    .then((client) => sweepBootGroups(client, options.service, () => reader.group))
    .catch((error: unknown) => log.debug({ error }, "groups of former readers could not be swept"));

  return Object.assign(progress, {
    async close() {
      reader.stop();
      await finished;
      const { group } = reader;
      if (group === null) return;
      await admin().then(
        (client) => deleteBootGroup(client, group),
        () => {},
      );
    },
  });
}

/** Thrown when the reader's owner could not take a record: kafkajs alone would repeat the same record for ever. */
class OwnerFailed extends Error {}

class KafkaReader {
  /** The group of the current consumer. */
  group: string | null = null;
  readonly #parts: KafkaParts;
  readonly #options: BroadcastOptions;
  readonly #progress: ReaderProgress;
  readonly #outage: Outage;
  readonly #part: string;
  readonly #closing = new AbortController();
  readonly #stopped = Promise.withResolvers<void>();
  #positions: ReadPositions | null = null;
  #stopListening = () => {};

  constructor(parts: KafkaParts, options: BroadcastOptions, progress: ReaderProgress) {
    this.#parts = parts;
    this.#options = options;
    this.#progress = progress;
    this.#outage = parts.log.outage("The event log");
    this.#part = `reader of ${options.topics.join(", ")}`;
  }

  /**
   * Reads until it is stopped. Waits for a log that is away or a topic that is absent; an error of the owner ends it.
   */
  async run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await this.#read();
      } catch (error) {
        if (signal.aborted) break;
        if (error instanceof OwnerFailed) throw error.cause;
        if (error instanceof UnknownTopic) this.#progress.markHeard(); // the broker is healthy: a job creates topics
        this.#outage.failed(this.#part, error);
        await sleep(retryMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  stop(): void {
    this.#closing.abort();
    this.#stopped.resolve();
  }

  /** Runs one consumer until it crashes or the reader closes. */
  async #read(): Promise<void> {
    const { service, instance, topics, from } = this.#options;
    // A new group each time: in the former one our own lost member would hold the partitions until its session ends.
    this.group = bootGroup(service, instance);
    const positions = await this.#findPositions();
    const client = new BreakableClient(this.#parts.createClient);
    const consumer = client.kafka.consumer({
      ...consumerSettings(async () => false),
      groupId: this.group,
    });
    const { crashed, crash } = this.#watch(consumer, positions);
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: [...topics], fromBeginning: from === "start" });
      await consumer.run({
        ...runSettings,
        eachBatch: (payload) =>
          this.#eachBatch(payload, positions).catch((error: unknown) => {
            if (!(error instanceof OwnerFailed)) throw error;
            crash(error);
          }),
      });
      await Promise.race([this.#stopped.promise, crashed]);
    } finally {
      await client.end(consumer);
      this.#stopListening();
    }
  }

  /** Finds the start positions once: later consumers continue from the positions of the former one. */
  async #findPositions(): Promise<ReadPositions> {
    if (this.#positions) return this.#positions;
    const { topics, from } = this.#options;
    this.#positions = await ReadPositions.find(await this.#parts.admin(), topics, from);
    if (this.#positions.areAtEnd()) this.#progress.markCurrent();
    return this.#positions;
  }

  #watch(consumer: Consumer, positions: ReadPositions) {
    const { promise: crashed, reject: crash } = Promise.withResolvers<never>();
    crashed.catch(() => {}); // it may crash while it is being stopped
    consumer.on("consumer.crash", ({ payload }) => crash(payload.error));
    consumer.on("consumer.group_join", ({ payload }) => {
      this.#outage.passed(this.#part);
      positions.seek(consumer);
      this.#stopListening();
      this.#stopListening = onFetched(payload.memberId, (answered) => this.#heard(answered, positions));
    });
    return { crashed, crash };
  }

  #heard(answered: readonly TopicPartition[], positions: ReadPositions): void {
    this.#progress.markHeard();
    positions.markHeard(answered, this.#parts.clock.steadyMs());
    if (this.#progress.isCaughtUp()) this.#progress.markCurrent(positions.heardMs());
  }

  async #eachBatch(
    { batch, heartbeat, isRunning, resolveOffset }: EachBatchPayload,
    positions: ReadPositions,
  ): Promise<void> {
    const position = positions.of(batch.topic, batch.partition);
    if (!position) return;
    for (const message of batch.messages) {
      if (!isRunning() || this.#closing.signal.aborted) return;
      const record = toReceivedRecord(batch.topic, batch.partition, message);
      if (record.offset >= position.next) {
        await this.#handOver(record);
        position.next = record.offset + 1n;
      }
      resolveOffset(message.offset);
    }
    // Compaction and control records leave gaps: everything that the fetch covered is read.
    const covered = BigInt(batch.lastOffset()) + 1n;
    if (covered > position.next) position.next = covered;
    if (!this.#progress.isCaughtUp() && positions.areAtEnd()) this.#progress.markCurrent();
    await heartbeat();
  }

  async #handOver(record: ReceivedRecord): Promise<void> {
    try {
      await this.#options.onRecord(record);
    } catch (error) {
      throw new OwnerFailed("the owner of the reader failed", { cause: error });
    }
  }
}

interface Position {
  readonly topic: string;
  readonly partition: number;
  /** The offset to read next. */
  next: bigint;
  /** The end of the partition when the reader opened. */
  readonly end: bigint;
  /** Time of its broker's last answer, on the steady clock. */
  heardMs: number;
}

/**
 * The positions of a broadcast reader in each partition. Nothing is committed: they restore the reader after a
 * rebalance.
 */
class ReadPositions {
  readonly #positions = new Map<string, Position>();

  /** Asks the broker for the first and last offset of each partition. @throws UnknownTopic */
  static async find(admin: Admin, topics: readonly string[], from: BroadcastOptions["from"]): Promise<ReadPositions> {
    const found = new ReadPositions();
    for (const range of await kafkaRanges(admin, topics)) {
      const { topic, partition, end } = range;
      found.#positions.set(`${topic}/${partition}`, {
        topic,
        partition,
        next: beginningOf(from, range),
        end,
        heardMs: 0,
      });
    }
    return found;
  }

  of(topic: string, partition: number): Position | undefined {
    return this.#positions.get(`${topic}/${partition}`);
  }

  /** Returns true when every record that existed when the reader opened has been read. */
  areAtEnd(): boolean {
    return [...this.#positions.values()].every(({ next, end }) => next >= end);
  }

  markHeard(answered: readonly TopicPartition[], nowMs: number): void {
    for (const { topic, partition } of answered) {
      const position = this.of(topic, partition);
      if (position) position.heardMs = nowMs;
    }
  }

  /** Returns the time of the oldest last answer over all partitions. */
  heardMs(): number {
    return Math.min(...[...this.#positions.values()].map(({ heardMs }) => heardMs));
  }

  seek(consumer: Consumer): void {
    for (const { topic, partition, next } of this.#positions.values()) {
      consumer.seek({ topic, partition, offset: String(next) });
    }
  }
}
