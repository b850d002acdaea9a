import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, randomId } from "@signalbox/core";
import { createWakeUp } from "@signalbox/runtime";
import { type Pool, sql } from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";
import type { SubscribeOptions, Subscription } from "../event-log.ts";
import { createLimiter } from "../limiter.ts";
import { createMembership, type OwnedPartition, type Tended } from "./membership.ts";
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

/** A partition in our hands: where we are, and whether a batch of it is being handled. */
interface Reading {
  readonly owned: OwnedPartition;
  readonly abort: AbortController;
  position: bigint;
  busy: Promise<void> | null;
}

/** How often a reader looks by itself; wake-ups come at once. */
const pollMs = 500;
const pauseMaxMs = 5_000;

const ends = sql("log.ends", "select id, next_offset from signalbox.log_partition where id = any ($1)");

/** Joins the group and hands over batches until closed. Rejects when the log cannot be reached now. */
export async function openPostgresSubscription(
  { pool, topics, wakeUps, log, clock }: Parts,
  { group, topics: names, concurrency = 4, sessionTimeoutMs = 15_000, handle }: SubscribeOptions,
): Promise<Subscription> {
  await topics.find(names);
  const membership = createMembership(pool, {
    group,
    member: randomId("member"),
    topics: names,
    sessionMs: sessionTimeoutMs,
  });
  const heartbeatMs = Math.min(3_000, sessionTimeoutMs / 6);
  const limited = createLimiter(concurrency);
  const closing = new AbortController();
  const work = createWakeUp(pollMs);
  const tending = createWakeUp(heartbeatMs);
  const ended = Promise.withResolvers<void>();
  const readings = new Map<number, Reading>();
  let aliveMs = clock.steadyMs();

  const stopListening = wakeUps.listen({ topics: names, onRecords: work.wake, onMembers: tending.wake });

  /** Keeps our place in the group: a member that cannot beat stops reading before the others take over. */
  async function tend(): Promise<void> {
    let givenBack: number[] = [];
    while (!closing.signal.aborted) {
      tending.reset();
      try {
        const tended = await membership.tend(givenBack);
        aliveMs = clock.steadyMs();
        if (tended.changed) wakeUps.announceMembers();
        givenBack = await follow(tended);
        work.wake();
        if (givenBack.length > 0) continue;
      } catch (error) {
        if (closing.signal.aborted) break;
        log.warn({ error, group }, "the event log does not answer; the group waits");
        if (clock.steadyMs() - aliveMs > sessionTimeoutMs) dropAll();
        await sleep(Math.min(1_000, heartbeatMs), undefined, { signal: closing.signal }).catch(() => {});
      }
      await tending.wait(closing.signal);
      await sleep(20); // a burst of wake-ups is one look at the group
    }
  }

  /** Starts reading what is new and finishes what is to be given back. */
  async function follow({ owned, toGiveBack }: Tended): Promise<number[]> {
    const current = new Map(owned.map((partition) => [partition.partitionId, partition]));
    for (const [id, reading] of readings) {
      if (current.get(id)?.epoch === reading.owned.epoch) continue;
      reading.abort.abort(); // another member owns it
      readings.delete(id);
    }
    const leaving = toGiveBack.flatMap((id) => readings.get(id) ?? []);
    for (const { abort } of leaving) abort.abort();
    for (const { busy } of leaving) await busy;
    for (const id of toGiveBack) readings.delete(id);
    for (const partition of owned) {
      if (readings.has(partition.partitionId) || toGiveBack.includes(partition.partitionId)) continue;
      readings.set(partition.partitionId, {
        owned: partition,
        abort: new AbortController(),
        position: partition.committed,
        busy: null,
      });
    }
    return [...toGiveBack];
  }

  function dropAll(): void {
    for (const { abort } of readings.values()) abort.abort();
    readings.clear();
  }

  /** Finds partitions with news and reads each of them on its own, so that a slow one holds up no other. */
  async function dispatch(): Promise<void> {
    while (!closing.signal.aborted) {
      work.reset();
      const idle = [...readings.values()].filter(({ busy }) => busy === null);
      if (idle.length > 0) {
        const ids = idle.map(({ owned }) => owned.partitionId);
        const found = await pool.query<{ id: number; next_offset: bigint }>(ends, [ids]).catch(() => null);
        for (const { id, next_offset: end } of found?.rows ?? []) {
          const reading = readings.get(id);
          if (reading && reading.busy === null && end > reading.position) start(reading, end);
        }
      }
      await work.wait(closing.signal);
    }
  }

  function start(reading: Reading, end: bigint): void {
    reading.busy = read(reading, end).finally(() => {
      reading.busy = null;
    });
  }

  async function read(reading: Reading, end: bigint): Promise<void> {
    const signal = AbortSignal.any([reading.abort.signal, closing.signal]);
    let failures = 0;
    while (!signal.aborted && reading.position < end) {
      try {
        await limited(() => readBatch(reading, end, signal));
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        failures++;
        log.warn({ error, group, topic: reading.owned.topic }, "a batch failed and comes again");
        await sleep(Math.min(pauseMaxMs, 100 * 2 ** failures), undefined, { signal }).catch(() => {});
      }
    }
    work.wake(); // more may have arrived meanwhile
  }

  async function readBatch(reading: Reading, end: bigint, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { topic, partition, partitionId } = reading.owned;
    const records = await readRecords(pool, partitionId, reading.owned, reading.position);
    const heartbeat = async () => {}; // `tend` beats for all partitions of the member
    const done =
      records.length === 0
        ? 0
        : ((await handle({ topic, partition, records, endOffset: end, signal, heartbeat })) ?? records.length);
    const last = records[done - 1];
    const position = last ? last.offset + 1n : records.length === 0 ? end : reading.position;
    if (position === reading.position) return;
    if (!(await membership.commit(reading.owned, position))) {
      reading.abort.abort();
      tending.wake();
      return;
    }
    reading.position = position;
  }

  const loops = Promise.all([tend(), dispatch()]);
  loops.then(() => ended.resolve(), ended.reject);
  ended.promise.catch(() => {});

  return {
    assignments: () => [...readings.values()].map(({ owned: { topic, partition } }) => ({ topic, partition })),
    health() {
      const silentMs = clock.steadyMs() - aliveMs;
      return silentMs < sessionTimeoutMs
        ? null
        : `group ${group} has not reached the log for ${Math.round(silentMs)} ms`;
    },
    ended: ended.promise,
    async close() {
      if (closing.signal.aborted) return ended.promise;
      closing.abort();
      stopListening();
      await loops.catch(() => {});
      for (const { busy } of readings.values()) await busy;
      readings.clear();
      await membership.leave().catch(() => {}); // else the session runs out
      wakeUps.announceMembers();
    },
  };
}
