import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, MiB } from "@signalbox/core";
import type { Logger } from "@signalbox/telemetry";
import type { EachBatchPayload, Kafka, KafkaMessage } from "kafkajs";
import type { SubscribeOptions, Subscription, TopicPartition } from "../event-log.ts";
import { toReceivedRecord } from "./received-record.ts";

/**
 * Bytes on the wire; JSON is several times larger once decompressed. A single larger record is delivered all the same:
 * the broker gives the first partition of a fetch at least one, and kafkajs shuffles which one is first.
 */
export const fetchLimits = { maxBytesPerPartition: MiB, maxBytes: 4 * MiB };

/** kafkajs fetches again only when every partition of a broker is handled: no partition may keep the others waiting. */
const turnMs = 500;
const recordsPerCall = 500;
const bytesPerCall = 4 * MiB;
const pauseMaxMs = 5_000;

interface Parts {
  readonly kafka: Kafka;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Joins the group and hands over batches until closed. Rejects when the broker cannot be reached now. */
export async function openKafkaSubscription(
  { kafka, log, clock }: Parts,
  { group, topics, concurrency = 4, sessionTimeoutMs = 15_000, handle }: SubscribeOptions,
): Promise<Subscription> {
  const consumer = kafka.consumer({
    groupId: group,
    sessionTimeout: sessionTimeoutMs,
    heartbeatInterval: Math.min(3_000, sessionTimeoutMs / 6),
    ...fetchLimits,
    maxWaitTimeInMs: 500,
    allowAutoTopicCreation: false,
    retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 8, restartOnFailure: async () => true },
  });
  const ended = Promise.withResolvers<void>();
  ended.promise.catch(() => {}); // told to whoever asks
  const closing = new AbortController();
  let generation = new AbortController(); // aborted when the group divides its partitions anew
  let assigned: TopicPartition[] = [];
  let aliveMs = clock.steadyMs();
  let failures = 0;
  let isAway = false;

  const alive = () => {
    aliveMs = clock.steadyMs();
  };
  consumer.on("consumer.fetch", alive);
  consumer.on("consumer.heartbeat", alive);
  consumer.on("consumer.group_join", ({ payload }) => {
    alive();
    isAway = false;
    generation = new AbortController();
    assigned = Object.entries(payload.memberAssignment).flatMap(([topic, partitions]) =>
      partitions.map((partition) => ({ topic, partition })),
    );
    log.info({ group, assigned: assigned.map(({ topic, partition }) => `${topic}/${partition}`) }, "joined the group");
  });
  // kafkajs goes on by itself after most crashes; after the others only a new consumer helps.
  consumer.on("consumer.crash", ({ payload }) => {
    if (!isAway) log.warn({ error: payload.error, group }, "a consumer lost Kafka and tries again");
    isAway = true;
    if (!payload.restart) ended.reject(new Error(`the consumer of group ${group} crashed`, { cause: payload.error }));
  });

  async function eachBatch(payload: EachBatchPayload): Promise<void> {
    const { batch, isRunning, isStale } = payload;
    const signal = AbortSignal.any([generation.signal, closing.signal]);
    const turnEndsMs = clock.steadyMs() + turnMs;
    let interruption: unknown;
    const heartbeat = async () => {
      await payload.heartbeat().catch((error: unknown) => {
        interruption = error;
        generation.abort();
      });
    };

    for (const messages of portionsOf(batch.messages)) {
      if (!isRunning() || isStale() || signal.aborted || clock.steadyMs() > turnEndsMs) break;
      const done = await handleMessages(payload, messages, signal, heartbeat);
      const last = messages[done - 1];
      if (last) {
        payload.resolveOffset(last.offset);
        await commitThrough(payload, last);
      }
      if (done < messages.length) break;
      await heartbeat();
    }
    // kafkajs must see that the group is rebalancing, or it would not join again.
    if (interruption) throw interruption;
  }

  /** Returns how many messages are done. A failure is met with a pause, never with a throw: kafkajs would count it as a crash. */
  async function handleMessages(
    { batch: { topic, partition, highWatermark } }: EachBatchPayload,
    messages: readonly KafkaMessage[],
    signal: AbortSignal,
    heartbeat: () => Promise<void>,
  ): Promise<number> {
    const records = messages.map((message) => toReceivedRecord(topic, partition, message));
    try {
      const done = await handle({ topic, partition, records, endOffset: BigInt(highWatermark), signal, heartbeat });
      failures = 0;
      return done ?? records.length;
    } catch (error) {
      if (signal.aborted) return 0;
      failures++;
      log.warn({ error, group, topic, partition }, "a batch failed and comes again");
      const untilMs = clock.steadyMs() + Math.min(pauseMaxMs, 100 * 2 ** failures);
      while (clock.steadyMs() < untilMs && !signal.aborted) {
        await sleep(Math.min(500, untilMs - clock.steadyMs()), undefined, { signal }).catch(() => {});
        await heartbeat();
      }
      return 0;
    }
  }

  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [...topics], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: concurrency,
      eachBatch,
    });
  } catch (error) {
    await consumer.disconnect().catch(() => {});
    throw error;
  }

  return {
    assignments: () => assigned,
    health() {
      const silentMs = clock.steadyMs() - aliveMs;
      return silentMs < sessionTimeoutMs
        ? null
        : `group ${group} has not heard from Kafka for ${Math.round(silentMs)} ms`;
    },
    ended: ended.promise,
    async close() {
      closing.abort();
      await consumer.disconnect();
      ended.resolve();
    },
  };
}

function* portionsOf(messages: readonly KafkaMessage[]): Generator<readonly KafkaMessage[]> {
  let portion: KafkaMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = message.value?.length ?? 0;
    if (portion.length === recordsPerCall || (portion.length > 0 && bytes + size > bytesPerCall)) {
      yield portion;
      portion = [];
      bytes = 0;
    }
    portion.push(message);
    bytes += size;
  }
  if (portion.length > 0) yield portion;
}

/** Sends the commit at once: kafkajs's own rules about when are switched off together with auto-commit. */
async function commitThrough({ batch, commitOffsetsIfNecessary }: EachBatchPayload, last: KafkaMessage): Promise<void> {
  const offset = String(BigInt(last.offset) + 1n);
  await commitOffsetsIfNecessary({
    topics: [{ topic: batch.topic, partitions: [{ partition: batch.partition, offset }] }],
  });
}
