import type { Clock } from "@signalbox/core";
import type { Logger, Metrics } from "@signalbox/telemetry";
import type { Admin, Kafka } from "kafkajs";
import type { SubscribeOptions, Subscription } from "../event-log.ts";
import { createLiveness } from "../liveness.ts";
import { BatchHandler } from "./batch-handler.ts";
import { GroupSession } from "./group-session.ts";
import { requireKafkaTopics } from "./kafka-topics.ts";
import { fetchLimits } from "./kafkajs.ts";

interface Parts {
  readonly kafka: Kafka;
  readonly admin: () => Promise<Admin>;
  readonly ping: () => Promise<unknown>;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/** Joins the group and hands over batches until closed. Rejects when the broker cannot be reached now or lacks a topic. */
export async function openKafkaSubscription(
  { kafka, admin, ping, log, metrics, clock }: Parts,
  { group, topics, concurrency = 4, sessionTimeoutMs = 15_000, handle, onExpired }: SubscribeOptions,
): Promise<Subscription> {
  await requireKafkaTopics(await admin(), topics); // kafkajs would join without it, and never learn of it
  const consumer = kafka.consumer({
    groupId: group,
    sessionTimeout: sessionTimeoutMs,
    heartbeatInterval: Math.min(3_000, sessionTimeoutMs / 6),
    ...fetchLimits,
    maxWaitTimeInMs: 500,
    allowAutoTopicCreation: false,
    retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 8, restartOnFailure: async () => true },
  });
  const closing = new AbortController();
  const closed = Promise.withResolvers<void>();
  const rebalances = metrics.counter("signalbox_consumer_rebalances_total");
  consumer.on("consumer.group_join", () => rebalances.inc({ consumer: group }));
  const session = new GroupSession(consumer, { group, sessionTimeoutMs, log, clock, onExpired });
  const batches = new BatchHandler({ group, handle, session, closing: closing.signal, log, clock });

  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [...topics], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: concurrency,
      eachBatch: (payload) => batches.eachBatch(payload),
    });
  } catch (error) {
    await consumer.disconnect().catch(() => {});
    throw error;
  }

  function health(): string | null {
    const silentMs = session.silentMs();
    if (silentMs < sessionTimeoutMs) return null;
    return `group ${group} has not heard from Kafka for ${Math.round(silentMs)} ms`;
  }

  const ended = Promise.race([closed.promise, session.crashed]);
  ended.catch(() => {}); // told to whoever asks
  return {
    assignments: () => session.assignments(),
    health,
    liveness: createLiveness({ health, ping, clock }),
    ended,
    async close() {
      closing.abort();
      await consumer.disconnect();
      session.end();
      closed.resolve();
    },
  };
}
