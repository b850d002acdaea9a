import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, MiB } from "@signalbox/core";
import type { Logger, Metrics } from "@signalbox/runtime";
import type { EachBatchPayload, KafkaMessage } from "kafkajs";
import type { SubscribeOptions, Subscription } from "../log/event-log.ts";
import { createLiveness } from "../log/liveness.ts";
import { endsMembership } from "./errors/kafka-errors.ts";
import { GroupSession } from "./group-session.ts";
import { kafkaRanges } from "./kafka-groups.ts";
import { requireKafkaTopics } from "./kafka-topics.ts";
import { BreakableClient, consumerSettings, type KafkaParts, runSettings, toReceivedRecord } from "./kafkajs.ts";
import { TopicIdentities } from "./topic-identities.ts";

/** Longest interval between heartbeats. */
const heartbeatMsMax = 3_000;

/**
 * Joins the group and passes batches on until closed. Rejects when the broker cannot be reached now or lacks a topic.
 */
export async function openKafkaSubscription(
  { createClient, admin, ping, log, metrics, replacedTopics, clock }: KafkaParts & { readonly metrics: Metrics },
  options: SubscribeOptions & { readonly sessionTimeoutMs: number },
): Promise<Subscription> {
  const { group, topics, concurrency = 4, sessionTimeoutMs, handle, onExpired } = options;
  await requireKafkaTopics(await admin(), topics); // kafkajs would join without the topic and never notice it
  const client = new BreakableClient(createClient);
  const closing = new AbortController();
  const consumer = client.kafka.consumer({
    ...consumerSettings(async () => !closing.signal.aborted),
    groupId: group,
    sessionTimeout: sessionTimeoutMs,
    heartbeatInterval: Math.min(heartbeatMsMax, sessionTimeoutMs / 6),
  });
  const closed = Promise.withResolvers<void>();
  const rebalances = metrics.counter("signalbox_consumer_rebalances_total");
  consumer.on("consumer.group_join", () => rebalances.inc({ consumer: group }));
  const session = new GroupSession(consumer, { group, sessionTimeoutMs, log, clock, onExpired, admin });
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
    ...runSettings,
    partitionsConsumedConcurrently: concurrency,
    eachBatch: (payload) => batches.eachBatch(payload),
  });

  const beginAgain = async (topic: string) => {
    for (const { partition, first } of await kafkaRanges(await admin(), [topic]))
      if (session.assignments().some((one) => one.topic === topic && one.partition === partition))
        consumer.seek({ topic, partition, offset: String(first) });
    session.commits.forget();
    replacedTopics.report(topic);
  };
  void new TopicIdentities(admin, topics).watch(closing.signal, beginAgain);

  const health = () => session.health();
  const ended = Promise.race([closed.promise, session.crashed, running.then(() => closed.promise)]);
  ended.catch(() => {}); // callers handle it
  return {
    assignments: () => session.assignments(),
    health,
    halted: () => session.halts.list(),
    liveness: createLiveness({ health, ping, clock }),
    ended,
    async close() {
      await leave();
      session.end();
      closed.resolve();
    },
  };
}

interface BatchHandlerParts {
  readonly group: string;
  readonly handle: SubscribeOptions["handle"];
  readonly session: GroupSession;
  /** Aborted when the subscription closes. */
  readonly closing: AbortSignal;
  readonly log: Logger;
  readonly clock: Clock;
}

/** kafkajs fetches again only when every partition of a broker is handled: no partition may keep the others waiting. */
const turnMs = 500;
const recordsPerCall = 500;
const bytesPerCall = 4 * MiB;
const pauseMaxMs = 5_000;
const heartbeatEveryMs = 500;
/** Interval between checks for a coordinator that is away for longer than a session. */
const absentMs = 250;

/** Passes the batches of kafkajs on in portions, and commits each portion. */
export class BatchHandler {
  readonly #parts: BatchHandlerParts;
  readonly #inHand = new Set<Promise<void>>();
  /** Consecutive failures, over all partitions. */
  #failures = 0;

  constructor(parts: BatchHandlerParts) {
    this.#parts = parts;
  }

  /** Settles when the started batches have ended. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#inHand);
  }

  eachBatch(payload: EachBatchPayload): Promise<void> {
    const handled = this.#eachBatch(payload).finally(() => this.#inHand.delete(handled));
    this.#inHand.add(handled);
    return handled;
  }

  async #eachBatch(payload: EachBatchPayload): Promise<void> {
    const turn = new Turn(payload, this.#parts);
    if (!this.#parts.session.isMember()) await turn.pause(absentMs);
    for (const messages of portionsOf(payload.batch.messages)) {
      if (turn.isOver()) break;
      const done = await this.#handle(turn, messages);
      const last = messages[done - 1];
      if (last) {
        this.#parts.session.halts.passed(payload.batch);
        await commitThrough(payload, last, this.#parts.session);
      }
      if (done < messages.length) break;
      await turn.heartbeat();
    }
    this.#parts.session.throwIfEnded();
  }

  /**
   * Returns how many messages are done. A failure leads to a pause, never to an exception: kafkajs would count it as a
   * crash.
   */
  async #handle(turn: Turn, messages: readonly KafkaMessage[]): Promise<number> {
    const { topic, partition, highWatermark } = turn.payload.batch;
    const { signal, heartbeat } = turn;
    const records = messages.map((message) => toReceivedRecord(topic, partition, message));
    const batch = { topic, partition, records, endOffset: BigInt(highWatermark), signal, heartbeat };
    // A message may take longer than a session.
    const beats = setInterval(heartbeat, heartbeatEveryMs);
    try {
      const done = await this.#parts.handle(batch);
      this.#failures = 0;
      return done ?? records.length;
    } catch (error) {
      if (signal.aborted) return 0;
      this.#failures++;
      this.#parts.log.warn(
        { error, group: this.#parts.group, topic, partition },
        "a batch failed and will be delivered again",
      );
      await turn.pause(Math.min(pauseMaxMs, 100 * 2 ** this.#failures));
      return 0;
    } finally {
      clearInterval(beats);
    }
  }
}

/** The turn of one batch of one partition. */
class Turn {
  readonly payload: EachBatchPayload;
  /** Aborted when the partition is being taken away or the subscription closes. */
  readonly signal: AbortSignal;
  readonly #group: string;
  readonly #session: GroupSession;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #endsMs: number;

  constructor(payload: EachBatchPayload, { group, session, closing, log, clock }: BatchHandlerParts) {
    this.payload = payload;
    this.#group = group;
    this.#log = log;
    this.signal = AbortSignal.any([session.signal, closing]);
    this.#session = session;
    this.#clock = clock;
    this.#endsMs = clock.steadyMs() + turnMs;
  }

  isOver(): boolean {
    const { isRunning, isStale } = this.payload;
    if (!isRunning() || isStale() || this.signal.aborted || !this.#session.isMember()) return true;
    return this.#clock.steadyMs() > this.#endsMs;
  }

  /**
   * Sends a heartbeat and never throws: a rebalance is thrown when the turn is over; after any other failure the next
   * heartbeat tries again.
   */
  readonly heartbeat = async (): Promise<void> => {
    await this.payload.heartbeat().catch((error: unknown) => {
      if (endsMembership(error)) this.#session.endGeneration(error);
      else this.#log.warn({ error, group: this.#group }, "a heartbeat failed; it will be retried");
    });
  };

  /** Waits with heartbeats, unless the work is broken off. */
  async pause(ms: number): Promise<void> {
    const untilMs = this.#clock.steadyMs() + ms;
    while (this.#clock.steadyMs() < untilMs && !this.signal.aborted) {
      const stepMs = Math.min(heartbeatEveryMs, untilMs - this.#clock.steadyMs());
      await sleep(stepMs, undefined, { signal: this.signal }).catch(() => {});
      await this.heartbeat();
    }
  }
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

/** Sends the commit at once: kafkajs's own commit intervals are switched off together with auto-commit. */
async function commitThrough(
  { batch, resolveOffset, commitOffsetsIfNecessary }: EachBatchPayload,
  last: KafkaMessage,
  { commits }: GroupSession,
): Promise<void> {
  resolveOffset(last.offset);
  await commits.commit(batch, String(BigInt(last.offset) + 1n), commitOffsetsIfNecessary);
}
