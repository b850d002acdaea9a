import type { Clock } from "@signalbox/core";
import type { Logger, Metrics } from "@signalbox/telemetry";
import type { Admin, Consumer } from "kafkajs";
import type { SubscribeOptions, Subscription } from "../event-log.ts";
import { createLiveness } from "../liveness.ts";
import { BatchHandler } from "./batch-handler.ts";
import { BreakableClient, type CreateClient } from "./breakable-client.ts";
import { GroupSession } from "./group-session.ts";
import { requireKafkaTopics } from "./kafka-topics.ts";
import { fetchLimits } from "./kafkajs.ts";

interface Parts {
  readonly createClient: CreateClient;
  readonly admin: () => Promise<Admin>;
  readonly ping: () => Promise<unknown>;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

const retry = { initialRetryTime: 100, maxRetryTime: 2_000, retries: 8 };

interface GroupSessionLength {
  readonly sessionTimeoutMs: number;
}

/**
 * Joins the group and passes batches on until closed. Rejects when the broker cannot be reached now or lacks a topic.
 */
export async function openKafkaSubscription(
  { createClient, admin, ping, log, metrics, clock }: Parts,
  { group, topics, concurrency = 4, sessionTimeoutMs, handle, onExpired }: SubscribeOptions & GroupSessionLength,
): Promise<Subscription> {
  await requireKafkaTopics(await admin(), topics); // kafkajs would join without the topic and never notice it
  const client = new BreakableClient(createClient);
  const closing = new AbortController();
  const consumer = client.kafka.consumer({
    groupId: group,
    sessionTimeout: sessionTimeoutMs,
    heartbeatInterval: Math.min(3_000, sessionTimeoutMs / 6),
    ...fetchLimits,
    maxWaitTimeInMs: 500,
    allowAutoTopicCreation: false,
    retry: { ...retry, restartOnFailure: async () => !closing.signal.aborted },
  });
  const closed = Promise.withResolvers<void>();
  countRebalances(consumer, group, metrics);
  const session = new GroupSession(consumer, { group, sessionTimeoutMs, log, clock, onExpired });
  const batches = new BatchHandler({ group, handle, session, closing: closing.signal, log, clock });

  async function leave(): Promise<void> {
    closing.abort();
    await batches.settled();
    await client.end(consumer);
  }

  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [...topics], fromBeginning: true });
  } catch (error) {
    await leave();
    throw error;
  }
  // Not awaited: joining takes as long as the other members need, and the process may stop meanwhile.
  const running = consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: false,
    partitionsConsumedConcurrently: concurrency,
    eachBatch: (payload) => batches.eachBatch(payload),
  });

  const health = () => session.health();
  const ended = Promise.race([closed.promise, session.crashed, running.then(() => closed.promise)]);
  ended.catch(() => {}); // callers handle it
  return {
    assignments: () => session.assignments(),
    health,
    liveness: createLiveness({ health, ping, clock }),
    ended,
    async close() {
      await leave();
      session.end();
      closed.resolve();
    },
  };
}

function countRebalances(consumer: Consumer, group: string, metrics: Metrics): void {
  const rebalances = metrics.counter("signalbox_consumer_rebalances_total");
  consumer.on("consumer.group_join", () => rebalances.inc({ consumer: group }));
}
