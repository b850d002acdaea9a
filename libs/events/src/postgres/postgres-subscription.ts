import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, randomId } from "@signalbox/core";
import type { Logger, Metrics } from "@signalbox/runtime";
import { createWakeUp } from "@signalbox/runtime";
import { type Pool, sql } from "@signalbox/storage";
import { createLimiter } from "../log/concurrency.ts";
import type { SubscribeOptions, Subscription, TopicPartition, UndecodableBatch } from "../log/event-log.ts";
import { createLiveness } from "../log/liveness.ts";
import { HeldPartitions } from "./held-partitions.ts";
import { createMembership, type Membership } from "./membership.ts";
import type { TopicCache } from "./topic-cache.ts";
import type { WakeUps } from "./wake-ups.ts";

interface Parts {
  readonly pool: Pool;
  readonly ping: () => Promise<unknown>;
  readonly topics: TopicCache;
  readonly wakeUps: WakeUps;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/** Interval between checks without a wake-up; wake-ups come at once. */
const pollMs = 500;
/** A burst of wake-ups leads to one check of the group. */
const burstMs = 20;

const ends = sql("log.ends", "select id, next_offset from signalbox.log_partition where id = any ($1)");

/** Joins the group and passes batches on until closed. Rejects when the log cannot be reached now. */
export async function openPostgresSubscription(parts: Parts, options: SubscribeOptions): Promise<Subscription> {
  await parts.topics.find(options.topics);
  return new PostgresSubscription(parts, options);
}

/** A group member at work: one loop keeps its place in the group, the other finds partitions with news. */
class PostgresSubscription implements Subscription {
  readonly ended: Promise<void>;
  readonly liveness: () => Promise<string | null>;
  readonly #parts: Parts;
  readonly #group: string;
  readonly #sessionMs: number;
  readonly #heartbeatMs: number;
  readonly #membership: Membership;
  readonly #held: HeldPartitions;
  /** Aborted when the subscription closes: nothing new is read, current batches are finished. */
  readonly #closing = new AbortController();
  /** Aborted when no batch is in progress any more. */
  readonly #finished = new AbortController();
  readonly #work = createWakeUp(pollMs);
  readonly #tending: ReturnType<typeof createWakeUp>;
  readonly #stopListening: () => void;
  #aliveMs: number;

  constructor(parts: Parts, options: SubscribeOptions) {
    const { group, topics, concurrency = 4, sessionTimeoutMs = 15_000, handle, onExpired = () => {} } = options;
    const { pool, ping, wakeUps, log, clock } = parts;
    this.#parts = parts;
    this.#group = group;
    this.#sessionMs = sessionTimeoutMs;
    this.#heartbeatMs = Math.min(3_000, sessionTimeoutMs / 6);
    this.#tending = createWakeUp(this.#heartbeatMs);
    this.#aliveMs = clock.steadyMs();
    this.#membership = createMembership(pool, {
      group,
      member: randomId("member"),
      topics,
      sessionMs: sessionTimeoutMs,
      presence: wakeUps.presence,
    });
    this.#held = new HeldPartitions({
      pool,
      log,
      group,
      handle,
      onExpired,
      membership: this.#membership,
      limited: createLimiter(concurrency),
      closing: this.#closing.signal,
      onRead: this.#work.wake,
      onLost: this.#tending.wake,
      onFinished: this.#tending.wake,
    });
    this.#stopListening = wakeUps.listen({ topics, onRecords: this.#work.wake, onMembers: this.#tending.wake });
    this.liveness = createLiveness({ health: () => this.health(), ping, clock });
    this.ended = Promise.all([this.#tend(), this.#dispatch()]).then(() => {});
    this.ended.catch(() => {}); // callers handle it
  }

  assignments(): readonly TopicPartition[] {
    return this.#held.assignments();
  }

  halted(): readonly UndecodableBatch[] {
    return [];
  }

  health(): string | null {
    const silentMs = this.#silentMs();
    if (silentMs < this.#sessionMs) return null;
    return `group ${this.#group} has not reached the log for ${Math.round(silentMs)} ms`;
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return this.ended;
    this.#closing.abort();
    this.#stopListening();
    await this.#held.allFinished();
    this.#finished.abort();
    await this.ended.catch(() => {});
    await this.#membership.leave().catch(() => {}); // otherwise the session expires
    this.#parts.wakeUps.announceMembers();
  }

  /**
   * Keeps the place in the group until no batch is in progress: a member that cannot send heartbeats stops reading
   * before the others take over.
   */
  async #tend(): Promise<void> {
    const finished = this.#finished.signal;
    while (!finished.aborted) {
      this.#tending.reset();
      try {
        await this.#followGroup();
      } catch (error) {
        if (finished.aborted) break;
        this.#parts.log.outage("The event log").failed(`group ${this.#group}`, error);
        if (this.#silentMs() > this.#sessionMs) this.#held.drop();
        await sleep(Math.min(1_000, this.#heartbeatMs), undefined, { signal: finished }).catch(() => {});
      }
      await this.#tending.wait(finished);
      await sleep(burstMs);
    }
  }

  /** Sends a heartbeat, gives back finished partitions, and follows the current division of the partitions. */
  async #followGroup(): Promise<void> {
    const tended = await this.#membership.tend(this.#held.finished());
    this.#aliveMs = this.#parts.clock.steadyMs();
    this.#parts.log.outage("The event log").passed(`group ${this.#group}`);
    if (tended.changed) {
      this.#parts.wakeUps.announceMembers();
      this.#parts.metrics.counter("signalbox_consumer_rebalances_total").inc({ consumer: this.#group });
    }
    this.#held.follow(tended);
    this.#work.wake();
  }

  /** Finds partitions with news and reads each of them separately, so that a slow one delays no other. */
  async #dispatch(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      this.#work.reset();
      const idle = this.#held.idle();
      if (idle.length > 0) {
        const query = this.#parts.pool.query<{ id: number; next_offset: bigint }>(ends, [idle]);
        const found = await query.catch(() => null);
        for (const { id, next_offset: end } of found?.rows ?? []) this.#held.readTo(id, end);
      }
      await this.#work.wait(this.#closing.signal);
    }
  }

  #silentMs(): number {
    return this.#parts.clock.steadyMs() - this.#aliveMs;
  }
}
