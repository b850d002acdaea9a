import type { Clock } from "@signalbox/core";
import type { Logger } from "@signalbox/telemetry";
import type { Admin, Consumer } from "kafkajs";
import type { SubscribeOptions, TopicPartition } from "../event-log.ts";
import { onFetched } from "./dead-brokers.ts";
import { brokerResource } from "./kafkajs.ts";
import { OffsetCommits } from "./offset-commits.ts";
import { onExpiredRecords } from "./offset-resets.ts";

interface GroupSessionParts {
  readonly group: string;
  readonly sessionTimeoutMs: number;
  readonly onExpired: SubscribeOptions["onExpired"];
  readonly log: Logger;
  readonly clock: Clock;
}

/** Tracks this member's place in its group by the events of kafkajs. */
export class GroupSession {
  readonly commits = new OffsetCommits();
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
  #aliveMs: number;
  /** Time of the coordinator's last answer. */
  #memberMs: number;

  constructor(consumer: Consumer, { group, sessionTimeoutMs, log, clock, onExpired }: GroupSessionParts) {
    this.#group = group;
    this.#sessionTimeoutMs = sessionTimeoutMs;
    this.#log = log;
    this.#clock = clock;
    this.#onExpired = onExpired;
    this.#aliveMs = clock.steadyMs();
    this.#memberMs = clock.steadyMs();
    consumer.on("consumer.heartbeat", () => {
      this.#alive();
      this.#memberMs = this.#clock.steadyMs();
      void this.commits.settle().catch(() => {}); // the next commit throws it
    });
    consumer.on("consumer.group_join", ({ payload }) => this.#joined(payload.memberId, payload.memberAssignment));

    const crashed = Promise.withResolvers<never>();
    this.crashed = crashed.promise;
    this.crashed.catch(() => {}); // callers handle it
    consumer.on("consumer.crash", ({ payload: { error, restart } }) => {
      this.#away(error);
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
    return `group ${this.#group} has not heard from Kafka for ${Math.round(silentMs)} ms`;
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

  #alive(): void {
    this.#aliveMs = this.#clock.steadyMs();
  }

  #joined(memberId: string, assignment: Readonly<Record<string, readonly number[]>>): void {
    this.#alive();
    this.#memberMs = this.#clock.steadyMs();
    this.commits.forget();
    this.#stopListening();
    const stopFetched = onFetched(memberId, () => this.#alive());
    const stopExpired = this.#onExpired ? onExpiredRecords(memberId, this.#onExpired) : () => {};
    this.#stopListening = () => {
      stopFetched();
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

  #away(error: Error): void {
    this.#log.outage("The event log").failed(`group ${this.#group}`, error);
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
  const answer = await admin
    .describeConfigs({
      includeSynonyms: false,
      resources: [{ type: brokerResource, name, configNames: [property] }],
    })
    .catch((error: unknown) => {
      log.debug({ error }, `Kafka does not show ${property}`);
      return null;
    });
  const entries = answer?.resources[0]?.configEntries ?? [];
  const allowedMs = Number(entries.find(({ configName }) => configName === property)?.configValue ?? kafkasOwnMs);
  if (allowedMs > wantedMs) {
    log.info(
      { allowed_ms: allowedMs },
      `A dead member is noticed later than needed: Kafka's ${property} is above ${wantedMs}`,
    );
  }
  return Math.max(wantedMs, allowedMs);
}
