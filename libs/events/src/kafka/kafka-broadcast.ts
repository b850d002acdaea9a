import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "@signalbox/core";
import type { Logger, Outage } from "@signalbox/telemetry";
import type { Admin, Consumer, EachBatchPayload } from "kafkajs";
import {
  type BroadcastOptions,
  type BroadcastReader,
  type ReceivedRecord,
  type TopicPartition,
  UnknownTopic,
} from "../event-log.ts";
import { ReaderProgress } from "../reader-progress.ts";
import { BreakableClient, type CreateClient } from "./breakable-client.ts";
import { onFetched } from "./dead-brokers.ts";
import { bootGroup, deleteBootGroup, sweepBootGroups } from "./kafka-groups.ts";
import { fetchLimits, toReceivedRecord } from "./kafkajs.ts";
import { ReadPositions } from "./read-positions.ts";

interface Parts {
  readonly createClient: CreateClient;
  readonly admin: () => Promise<Admin>;
  readonly ping: () => Promise<unknown>;
  readonly log: Logger;
  readonly clock: Clock;
}

const retryMs = 1_000;

/**
 * Reads every record in a group of its own, `<service>.<instance>.boot-<random>`, because kafkajs reads only in groups.
 * It never commits; positions are kept here and sought again after each rebalance. The group is deleted at close, and
 * those of crashed instances at the next open.
 */
export function openKafkaBroadcast(parts: Parts, options: BroadcastOptions): BroadcastReader {
  const { admin, ping, log, clock } = parts;
  const progress = new ReaderProgress(clock, ping);
  const reader = new KafkaReader(parts, options, progress);
  const finished = progress.follow(reader.run());
  void admin()
    .then((client) => sweepBootGroups(client, options.service, () => reader.group))
    .catch((error: unknown) => log.debug({ error }, "groups of former readers could not be swept"));

  return {
    caughtUp: progress.caughtUp,
    ended: progress.ended,
    ageMs: () => progress.ageMs(),
    health: () => progress.health(),
    liveness: () => progress.liveness(),
    async close() {
      reader.stop();
      await finished;
      const { group } = reader;
      if (group !== null)
        await admin().then(
          (client) => deleteBootGroup(client, group),
          () => {},
        );
    },
  };
}

/** Thrown when the reader's owner could not take a record: kafkajs alone would repeat the same record for ever. */
class OwnerFailed extends Error {}

class KafkaReader {
  /** The group of the current consumer. */
  group: string | null = null;
  readonly #parts: Parts;
  readonly #options: BroadcastOptions;
  readonly #progress: ReaderProgress;
  readonly #outage: Outage;
  readonly #part: string;
  readonly #closing = new AbortController();
  readonly #stopped = Promise.withResolvers<void>();
  #positions: ReadPositions | null = null;
  #stopListening = () => {};

  constructor(parts: Parts, options: BroadcastOptions, progress: ReaderProgress) {
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
      groupId: this.group,
      ...fetchLimits,
      maxWaitTimeInMs: 500,
      allowAutoTopicCreation: false,
      retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 8, restartOnFailure: async () => false },
    });
    const { crashed, crash } = this.#watch(consumer, positions);
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: [...topics], fromBeginning: from === "start" });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
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
