import type { EventDraft, EventName } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import type { Logger, Metrics, Tracer } from "@signalbox/runtime";
import type { Pool, Tx } from "@signalbox/storage";
import type { EventLog, LogRecord } from "../log/event-log.ts";
import {
  type Appended,
  type AppendOptions,
  appendEvents,
  appendRecords,
  appendTombstones,
  type PreparedEvent,
  prepareEvents,
} from "./append-events.ts";
import { createOutboxMetrics } from "./outbox-metrics.ts";
import { runRelay } from "./relay.ts";
import { createShardQueue, type ShardQueue } from "./shard-queue.ts";

/** The only way for a fact to leave a service: written with the change, published after its commit. */
export interface Outbox {
  /** Adds the events to the transaction and returns their ids. Append after the aggregate's row is locked. */
  append(tx: Tx, drafts: readonly EventDraft<EventName>[], options?: AppendOptions): Promise<string[]>;
  /** Encodes the events for a statement of the caller, which writes them with `outboxInsert` beside their change. */
  prepare(drafts: readonly EventDraft<EventName>[]): PreparedEvent[];
  /** Wakes the relay for the shards that such a statement has committed. */
  announce(shards: readonly number[]): void;
  /** Appends tombstones, so that a state topic forgets the subjects of an event. */
  forget(tx: Tx, name: EventName, subjects: readonly string[]): Promise<void>;
  /** Appends records as they are: messages that an operator moves, and tombstones. */
  move(tx: Tx, records: readonly LogRecord[]): Promise<void>;
  /**
   * Runs the worker that publishes; one per instance: `runner.worker("outbox relay", (s, b) => outbox.runRelay(log, s,
   * b))`.
   */
  runRelay(eventLog: EventLog, signal: AbortSignal, beat: () => void): Promise<void>;
}

export interface OutboxOptions {
  readonly pool: Pool;
  readonly service: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly tracer: Tracer;
  /** `events.message.max-bytes` */
  readonly maxBytes: number;
  /** Time after which a publish counts as failed and its rows go back; the transaction is open meanwhile. */
  readonly publishTimeoutMs?: number;
  /** Interval between searches for rows that no signal announced. */
  readonly idlePollMs?: number;
}

export function createOutbox(options: OutboxOptions): Outbox {
  const { pool, log, clock, tracer, publishTimeoutMs = 5_000, idlePollMs = 250 } = options;
  const metrics = createOutboxMetrics(options.metrics, pool);
  let queue: ShardQueue | undefined; // of the relay that runs here, if one does

  return {
    async append(tx, drafts, appendOptions = {}) {
      return announced(tx, await appendEvents(tx, drafts, appendOptions, options));
    },

    prepare: (drafts) => prepareEvents(drafts, {}, options),
    announce: (shards) => queue?.add(shards),

    async forget(tx, name, subjects) {
      announced(tx, await appendTombstones(tx, name, subjects, options));
    },

    async move(tx, records) {
      announced(tx, await appendRecords(tx, records, options));
    },

    async runRelay(eventLog, signal, beat) {
      queue = createShardQueue();
      await runRelay(
        { pool, eventLog, queue, log, metrics, tracer, clock, publishTimeoutMs, idlePollMs },
        signal,
        beat,
      );
    },
  };

  function announced(tx: Tx, { eventIds, shards }: Appended): string[] {
    tx.afterCommit(() => queue?.add(shards()));
    return eventIds;
  }
}
