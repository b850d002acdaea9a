import type { Clock } from "@signalbox/core";
import type { Logger } from "@signalbox/runtime";
import kafkajs, { type Admin, type Consumer } from "kafkajs";
import { bounded } from "../log/concurrency.ts";
import type { SubscribeOptions, TopicPartition } from "../log/event-log.ts";
import { isAway, LateAnswer } from "./errors/kafka-errors.ts";
import { HaltedPartitions } from "./halted-partitions.ts";
import { readSettings } from "./kafka-topics.ts";
import { onFetched } from "./patches/dead-leaders.ts";
import { onExpiredRecords } from "./patches/expired-records.ts";
import { onUndecodable } from "./patches/undecodable-batches.ts";

interface GroupSessionParts {
  readonly group: string;
  readonly sessionTimeoutMs: number;
  readonly onExpired: SubscribeOptions["onExpired"];
  readonly admin: () => Promise<Admin>;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Tracks this member's place in its group by the events of kafkajs. */
export class GroupSession {
  readonly commits = new OffsetCommits();
  readonly halts: HaltedPartitions;
  /** Rejects when kafkajs cannot recover by itself: only a new consumer helps. */
  readonly crashed: Promise<never>;
  readonly #group: string;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #onExpired: SubscribeOptions["onExpired"];
  readonly #sessionTimeoutMs: number;
  #stopListening = () => {};
  #generation = new AbortController();
  /** The error of the broker that ended the generation. */
  #end: unknown = null;
  #assigned: readonly TopicPartition[] = [];
  #aliveMs = 0;
  /** Time of the coordinator's last answer. */
  #memberMs = 0;

  constructor(consumer: Consumer, { group, sessionTimeoutMs, log, clock, onExpired, admin }: GroupSessionParts) {
    this.halts = new HaltedPartitions(group, admin, log);
    this.#group = group;
    this.#sessionTimeoutMs = sessionTimeoutMs;
    this.#log = log;
    this.#clock = clock;
    this.#onExpired = onExpired;
    this.#answered();
    consumer.on("consumer.heartbeat", () => {
      this.#answered();
      void this.commits.settle().catch(() => {}); // the next commit throws it
    });
    consumer.on("consumer.group_join", ({ payload }) => this.#joined(payload.memberId, payload.memberAssignment));

    const crashed = Promise.withResolvers<never>();
    this.crashed = crashed.promise;
    this.crashed.catch(() => {}); // callers handle it
    consumer.on("consumer.crash", ({ payload: { error, restart } }) => {
      log.outage("The event log").failed(`group ${group}`, error);
      // kafkajs restarts by itself after most crashes.
      if (!restart) crashed.reject(new Error(`the consumer of group ${group} crashed`, { cause: error }));
    });
  }

  assignments(): readonly TopicPartition[] {
    return this.#assigned;
  }

  /** Aborted when the group rebalances. */
  get signal(): AbortSignal {
    return this.#generation.signal;
  }

  /** Stops the work of this generation: the broker reports a rebalance. */
  endGeneration(error: unknown): void {
    this.#end = error;
    this.#generation.abort();
  }

  /**
   * Throws the broker's error once the generation has ended: kafkajs must see it, or it would not join again. Every
   * batch throws it until then, because kafkajs heeds only the first of several concurrent errors.
   */
  throwIfEnded(): void {
    if (this.#end !== null) throw this.#end;
  }

  /** Gives the reason why the member is not reading, or null when it is. */
  health(): string | null {
    const silentMs = this.#clock.steadyMs() - this.#aliveMs;
    if (silentMs < this.#sessionTimeoutMs) return null;
    return `group ${this.#group} has not received anything from Kafka for ${Math.round(silentMs)} ms`;
  }

  /**
   * Returns false once the group may have taken this member for dead, because its coordinator has not answered for a
   * session.
   */
  isMember(): boolean {
    return this.#clock.steadyMs() - this.#memberMs < this.#sessionTimeoutMs;
  }

  /** Stops listening, after the consumer has disconnected. */
  end(): void {
    this.#stopListening();
  }

  #fetched(): void {
    this.#aliveMs = this.#clock.steadyMs();
  }

  /** Notes an answer of the coordinator. */
  #answered(): void {
    this.#fetched();
    this.#memberMs = this.#clock.steadyMs();
  }

  #joined(memberId: string, assignment: Readonly<Record<string, readonly number[]>>): void {
    this.#answered();
    this.commits.forget();
    this.halts.forget();
    this.#stopListening();
    const stopFetched = onFetched(memberId, () => this.#fetched());
    const stopUndecodable = onUndecodable(memberId, (batch) => this.halts.met(batch));
    const stopExpired = this.#onExpired ? onExpiredRecords(memberId, this.#onExpired) : () => {};
    this.#stopListening = () => {
      stopFetched();
      stopUndecodable();
      stopExpired();
    };
    this.#log.outage("The event log").passed(`group ${this.#group}`);
    this.#generation = new AbortController();
    this.#end = null;
    this.#assigned = Object.entries(assignment).flatMap(([topic, partitions]) =>
      partitions.map((partition) => ({ topic, partition })),
    );
    const assigned = this.#assigned.map(({ topic, partition }) => `${topic}/${partition}`);
    this.#log.info({ group: this.#group, assigned }, "joined the group");
  }
}

/** Silence after which a member is taken for dead, so its partitions have another reader within five seconds. */
const wantedMs = 3_000;
/** Kafka's default minimum. */
const kafkasOwnMs = 6_000;
const property = "group.min.session.timeout.ms";

/**
 * Finds the shortest session that the brokers allow, but not less than ours. Logs when take-over is slower than it
 * could be.
 */
export async function groupSessionMs(admin: Admin, log: Logger): Promise<number> {
  const { controller, brokers } = await admin.describeCluster();
  const name = String(controller ?? brokers[0]?.nodeId);
  const settings = await readSettings(admin, kafkajs.ConfigResourceTypes.BROKER, [name], [property]).catch(
    (error: unknown) => log.debug({ error }, `Kafka does not show ${property}`),
  );
  const allowedMs = Number(settings?.get(name)?.get(property) ?? kafkasOwnMs);
  if (allowedMs > wantedMs) {
    const message = `A dead member is noticed later than needed: Kafka's ${property} is above ${wantedMs}`;
    log.info({ allowed_ms: allowedMs }, message);
  }
  return Math.max(wantedMs, allowedMs);
}

interface TopicOffsets {
  readonly topic: string;
  readonly partitions: { readonly partition: number; readonly offset: string }[];
}

type Send = (offsets: { topics: TopicOffsets[] }) => Promise<void>;

/**
 * A commit waits for every replica of the group's offsets, and a broker that has just died counts as one for seconds.
 */
const goOnMs = 300;

/**
 * Commits offsets, one request at a time and the newest of each partition. Reading continues while the coordinator is
 * slow or away: outstanding offsets go with the next commit, or once the coordinator answers again.
 */
class OffsetCommits {
  readonly #owed = new Map<string, TopicPartition & { readonly offset: string }>();
  #send: Send = async () => {};
  #sending: Promise<void> | null = null;
  /** True while commits are not awaited, because the last one was not answered in time. */
  #isSlow = false;

  /** Resolves when the offset is committed, or outstanding. Rejects when the group rebalances. */
  async commit({ topic, partition }: TopicPartition, offset: string, send: Send): Promise<void> {
    this.#owed.set(`${topic}/${partition}`, { topic, partition, offset });
    this.#send = send;
    try {
      await bounded(this.settle(), this.#isSlow ? 0 : goOnMs, () => new LateAnswer("the coordinator is slow"));
    } catch (error) {
      if (!isAway(error)) throw error;
      this.#isSlow = true;
    }
  }

  /** Commits the outstanding offsets. */
  async settle(): Promise<void> {
    while (this.#sending) await this.#sending.catch(() => {});
    if (this.#owed.size === 0) return;
    this.#sending = this.#sendOwed().finally(() => {
      this.#sending = null;
    });
    await this.#sending;
  }

  /** Drops the outstanding offsets: a new generation of the group begins at the committed ones. */
  forget(): void {
    this.#owed.clear();
  }

  async #sendOwed(): Promise<void> {
    const owed = new Map(this.#owed);
    this.#owed.clear();
    try {
      await this.#send({ topics: topicsOf([...owed.values()]) });
      this.#isSlow = false;
    } catch (error) {
      if (isAway(error)) for (const [name, one] of owed) if (!this.#owed.has(name)) this.#owed.set(name, one);
      throw error;
    }
  }
}

function topicsOf(offsets: readonly (TopicPartition & { readonly offset: string })[]): TopicOffsets[] {
  return [...Map.groupBy(offsets, ({ topic }) => topic)].map(([topic, ofTopic]) => ({
    topic,
    partitions: ofTopic.map(({ partition, offset }) => ({ partition, offset })),
  }));
}
