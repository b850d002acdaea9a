import { setTimeout as sleep } from "node:timers/promises";
import type { Outage } from "@signalbox/runtime";
import type { Consumer, EachBatchPayload } from "kafkajs";
import {
  type BroadcastOptions,
  type BroadcastReader,
  beginningOf,
  type PartitionRange,
  type ReceivedRecord,
  type TopicPartition,
  type UndecodableBatch,
  UnknownTopic,
} from "../log/event-log.ts";
import { ReaderProgress } from "../log/reader-progress.ts";
import { bootGroup, deleteBootGroup, kafkaRanges, sweepBootGroups } from "./kafka-groups.ts";
import { BreakableClient, consumerSettings, type KafkaParts, runSettings, toReceivedRecord } from "./kafkajs.ts";
import { onFetched } from "./patches/dead-leaders.ts";
import { onUndecodable } from "./patches/undecodable-batches.ts";
import { TopicIdentities } from "./topic-identities.ts";

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
    .catch((error: unknown) => log.debug({ error }, "consumer groups of former readers could not be removed"));

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
  /** By topic and partition. Nothing is committed: they restore the reader after a rebalance. */
  readonly #positions = new Map<string, Position>();
  readonly #identities: TopicIdentities;
  #stopListening = () => {};

  constructor(parts: KafkaParts, options: BroadcastOptions, progress: ReaderProgress) {
    this.#parts = parts;
    this.#options = options;
    this.#progress = progress;
    this.#outage = parts.log.outage("The event log");
    this.#part = `reader of ${options.topics.join(", ")}`;
    this.#identities = new TopicIdentities(parts.admin, options.topics);
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
    await this.#findPositions();
    const client = new BreakableClient(this.#parts.createClient);
    const consumer = client.kafka.consumer({ ...consumerSettings(async () => false), groupId: this.group });
    const { crashed, crash } = this.#watch(consumer);
    const ended = new AbortController();
    const again = async (topic: string) => {
      await this.#startAgain(topic);
      this.#seek(consumer);
    };
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: [...topics], fromBeginning: from === "start" });
      await consumer.run({
        ...runSettings,
        eachBatch: (payload) =>
          this.#eachBatch(payload).catch((error: unknown) => {
            if (!(error instanceof OwnerFailed)) throw error;
            crash(error);
          }),
      });
      await Promise.race([this.#stopped.promise, crashed, this.#identities.watch(ended.signal, again)]);
    } finally {
      ended.abort();
      await client.end(consumer);
      this.#stopListening();
    }
  }

  /** Finds the start positions once: later consumers continue from the positions of the former one. */
  async #findPositions(): Promise<void> {
    const { topics, from } = this.#options;
    const ranges = await kafkaRanges(await this.#parts.admin(), topics);
    await this.#identities.check((topic) => this.#startAgain(topic));
    if (this.#positions.size > 0) return;
    for (const range of ranges) this.#place(range, beginningOf(from, range));
    this.#markIfAtEnd();
  }

  #place({ topic, partition, end }: PartitionRange, next: bigint): void {
    this.#positions.set(`${topic}/${partition}`, { topic, partition, next, end, heardMs: 0 });
  }

  /** Puts the reader at the beginning of the topic. */
  async #startAgain(topic: string): Promise<void> {
    const ranges = await kafkaRanges(await this.#parts.admin(), [topic]);
    for (const [name, position] of this.#positions) if (position.topic === topic) this.#positions.delete(name);
    for (const range of ranges) this.#place(range, range.first);
    this.#parts.replacedTopics.report(topic);
  }

  #seek(consumer: Consumer): void {
    for (const { topic, partition, next } of this.#positions.values())
      consumer.seek({ topic, partition, offset: String(next) });
  }

  /** Notes when every record that existed when the reader opened has been read. */
  #markIfAtEnd(): void {
    if (this.#progress.isCaughtUp()) return;
    if ([...this.#positions.values()].every(({ next, end }) => next >= end)) this.#progress.markCurrent();
  }

  #watch(consumer: Consumer) {
    const { promise: crashed, reject: crash } = Promise.withResolvers<never>();
    crashed.catch(() => {}); // it may crash while it is being stopped
    consumer.on("consumer.crash", ({ payload }) => crash(payload.error));
    consumer.on("consumer.group_join", ({ payload }) => {
      this.#outage.passed(this.#part);
      this.#seek(consumer);
      this.#stopListening();
      const stopFetched = onFetched(payload.memberId, (answered) => this.#heard(answered));
      const stopUndecodable = onUndecodable(payload.memberId, (batch) => this.#halt(batch));
      this.#stopListening = () => {
        stopFetched();
        stopUndecodable();
      };
    });
    return { crashed, crash };
  }

  /** Notes an answer. The reader is as current as the partition that was heard of longest ago. */
  #heard(answered: readonly TopicPartition[]): void {
    this.#progress.markHeard();
    for (const { topic, partition } of answered) {
      const position = this.#positions.get(`${topic}/${partition}`);
      if (position) position.heardMs = this.#parts.clock.steadyMs();
    }
    if (!this.#progress.isCaughtUp()) return;
    this.#progress.markCurrent(Math.min(...[...this.#positions.values()].map(({ heardMs }) => heardMs)));
  }

  /** Notes a batch that cannot be decoded. The reader waits there, and its age tells of it; the log itself answers. */
  #halt(batch: UndecodableBatch): boolean {
    this.#progress.markHeard();
    this.#outage.failed(this.#part, new Error(batch.reason));
    return false;
  }

  async #eachBatch({ batch, heartbeat, isRunning, isStale, resolveOffset }: EachBatchPayload): Promise<void> {
    const position = this.#positions.get(`${batch.topic}/${batch.partition}`);
    if (!position) return;
    for (const message of batch.messages) {
      if (!isRunning() || isStale() || this.#closing.signal.aborted) return;
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
    this.#markIfAtEnd();
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
