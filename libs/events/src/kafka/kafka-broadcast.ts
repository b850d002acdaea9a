import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "@signalbox/core";
import type { Logger } from "@signalbox/telemetry";
import type { Admin, Consumer, EachBatchPayload, Kafka } from "kafkajs";
import { type BroadcastOptions, type BroadcastReader, UnknownTopic } from "../event-log.ts";
import { fetchLimits } from "./kafka-subscription.ts";
import { toReceivedRecord } from "./received-record.ts";

interface Parts {
  readonly kafka: Kafka;
  readonly admin: () => Promise<Admin>;
  readonly log: Logger;
  readonly clock: Clock;
}

interface Position {
  readonly topic: string;
  readonly partition: number;
  next: bigint;
  /** The end of the partition when the reader opened. */
  readonly end: bigint;
}

const bootPattern = /\.boot-[0-9a-f]{12}$/;
const retryMs = 1_000;
/** A reader that has heard nothing for this long is not up to date, whatever it knows. */
const silenceMs = 30_000;

/**
 * Reads everything in a group of its own, `<service>.<instance>.boot-<random>`, because kafkajs reads only in groups. It
 * never commits; positions are kept here and sought again after each rebalance. The group is deleted at close, and those
 * of crashed instances at the next open.
 */
export function openKafkaBroadcast(
  { kafka, admin, log, clock }: Parts,
  { service, instance, topics, from, onRecord }: BroadcastOptions,
): BroadcastReader {
  let group = "";
  const closing = new AbortController();
  const caughtUp = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  ended.promise.catch(() => {});
  caughtUp.promise.catch(() => {});
  let positions = new Map<string, Position>();
  let isCaughtUp = false;
  let currentMs = clock.steadyMs();

  function checkCaughtUp(): void {
    if (positions.size === 0 || [...positions.values()].some(({ next, end }) => next < end)) return;
    isCaughtUp = true;
    currentMs = clock.steadyMs();
    caughtUp.resolve();
  }

  async function eachBatch({ batch, heartbeat, isRunning, resolveOffset }: EachBatchPayload): Promise<void> {
    const position = positions.get(`${batch.topic}/${batch.partition}`);
    if (!position) return;
    for (const message of batch.messages) {
      if (!isRunning() || closing.signal.aborted) return;
      const record = toReceivedRecord(batch.topic, batch.partition, message);
      if (record.offset >= position.next) {
        await handOver(onRecord, record);
        position.next = record.offset + 1n;
      }
      resolveOffset(message.offset);
    }
    // Compaction and control records leave gaps: what the fetch covered is read.
    const covered = BigInt(batch.lastOffset()) + 1n;
    if (covered > position.next) position.next = covered;
    if (!isCaughtUp) checkCaughtUp();
    await heartbeat();
  }

  /** Runs one consumer until it crashes or the reader closes. */
  async function read(): Promise<void> {
    // A new group each time: in the former one our own lost member would hold the partitions until its session ends.
    group = `${service}.${instance}.boot-${randomBytes(6).toString("hex")}`;
    if (positions.size === 0) positions = await positionsOf(await admin(), topics, from);
    checkCaughtUp();
    const consumer = kafka.consumer({
      groupId: group,
      ...fetchLimits,
      maxWaitTimeInMs: 500,
      allowAutoTopicCreation: false,
      retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 8, restartOnFailure: async () => false },
    });
    const crashed = Promise.withResolvers<never>();
    crashed.promise.catch(() => {});
    consumer.on("consumer.crash", ({ payload }) => crashed.reject(payload.error));
    consumer.on("consumer.group_join", () => seekAll(consumer, positions));
    consumer.on("consumer.fetch", () => {
      if (isCaughtUp) currentMs = clock.steadyMs();
    });
    const stop = new Promise<void>((resolve) =>
      closing.signal.addEventListener("abort", () => resolve(), { once: true }),
    );
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: [...topics], fromBeginning: from === "start" });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        eachBatch: (batch) => guarded(batch, crashed),
      });
      await Promise.race([stop, crashed.promise]);
    } finally {
      await consumer.disconnect().catch(() => {});
    }
  }

  /** An error of the reader's owner ends the reader; kafkajs alone would come back with the same record for ever. */
  async function guarded(batch: EachBatchPayload, crashed: PromiseWithResolvers<never>): Promise<void> {
    await eachBatch(batch).catch((error: unknown) => {
      if (!(error instanceof OwnerFailed)) throw error;
      crashed.reject(error);
    });
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await read();
      } catch (error) {
        if (closing.signal.aborted) break;
        if (error instanceof OwnerFailed || error instanceof UnknownTopic) throw error.cause ?? error;
        log.warn({ error, group }, "a reader lost Kafka and tries again");
        await sleep(retryMs, undefined, { signal: closing.signal }).catch(() => {});
      }
    }
  }

  const finished = run().then(ended.resolve, (error: unknown) => {
    caughtUp.reject(error);
    ended.reject(error);
  });
  void admin()
    .then((client) => sweep(client, service, () => group))
    .catch((error: unknown) => log.debug({ error }, "groups of former readers could not be swept"));

  const ageMs = () => clock.steadyMs() - currentMs;
  return {
    caughtUp: caughtUp.promise,
    ageMs,
    health: () => (ageMs() < silenceMs ? null : `the reader has heard nothing for ${Math.round(ageMs() / 1000)} s`),
    ended: ended.promise,
    async close() {
      closing.abort();
      await finished;
      await admin()
        .then((client) => client.deleteGroups([group]))
        .catch(() => {}); // else the sweep finds it
    },
  };
}

class OwnerFailed extends Error {}

async function handOver(
  onRecord: BroadcastOptions["onRecord"],
  record: Parameters<BroadcastOptions["onRecord"]>[0],
): Promise<void> {
  try {
    await onRecord(record);
  } catch (error) {
    throw new OwnerFailed("the owner of the reader failed", { cause: error });
  }
}

async function positionsOf(
  admin: Admin,
  topics: readonly string[],
  from: "start" | "end",
): Promise<Map<string, Position>> {
  const positions = new Map<string, Position>();
  const known = await admin.listTopics();
  for (const topic of topics) {
    if (!known.includes(topic)) throw new UnknownTopic(topic);
    for (const { partition, high, low } of await admin.fetchTopicOffsets(topic)) {
      const end = BigInt(high);
      positions.set(`${topic}/${partition}`, { topic, partition, next: from === "start" ? BigInt(low) : end, end });
    }
  }
  return positions;
}

function seekAll(consumer: Consumer, positions: ReadonlyMap<string, Position>): void {
  for (const { topic, partition, next } of positions.values()) {
    consumer.seek({ topic, partition, offset: String(next) });
  }
}

/** Deletes the groups that crashed readers of this service left behind. A group with a living member is not empty. */
async function sweep(admin: Admin, service: string, ownGroup: () => string): Promise<void> {
  const { groups } = await admin.listGroups();
  const candidates = groups
    .map(({ groupId }) => groupId)
    .filter((id) => id.startsWith(`${service}.`) && bootPattern.test(id) && id !== ownGroup());
  if (candidates.length === 0) return;
  const { groups: described } = await admin.describeGroups(candidates);
  const empty = described.filter(({ state }) => state === "Empty" || state === "Dead").map(({ groupId }) => groupId);
  if (empty.length > 0) await admin.deleteGroups(empty);
}
