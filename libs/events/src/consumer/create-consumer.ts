import { type EventName, eventOf } from "@signalbox/contracts";
import { type Clock, minutes, type ServiceName, seconds } from "@signalbox/core";
import type { Health, Logger, Metrics, Runner, Tracer } from "@signalbox/runtime";
import { type Pool, startRetention } from "@signalbox/storage";
import type { DeadLetters } from "../dead-letters/dead-letters.ts";
import { createLimiter } from "../log/concurrency.ts";
import type { EventLog, ExpiredRecords, ReceivedBatch, ReceivedRecord } from "../log/event-log.ts";
import { createConsumerMetrics } from "./consumer-metrics.ts";
import type { BatchHandler, ConsumerTable, StatelessTable } from "./consumer-table.ts";
import { createDeadlyMessages, startedRetention } from "./deadly-messages.ts";
import { drainParked } from "./drain-parked.ts";
import { GroupReader } from "./group-reader.ts";
import { handleBatch } from "./handle-batch.ts";
import { handleCarefully, handleMessage, type MessageParts, parkTogether } from "./handle-message.ts";
import { handleTogether } from "./handle-together.ts";
import { inboxRetention } from "./inbox.ts";
import { LagMeter } from "./lag-meter.ts";

interface CommonOptions {
  readonly service: ServiceName;
  /** Unique within the service. The group on the log is `<service>.<name>`, so a new name starts from the beginning. */
  readonly name: string;
  readonly eventLog: EventLog;
  readonly log: Logger;
  readonly tracer: Tracer;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly deadLetters: DeadLetters;
  /**
   * Largest number of messages handled at the same time, of different keys. Default 4: each holds a connection of the
   * pool.
   */
  readonly concurrency?: number;
  /** Delays before the second, third and fourth try of a parked message; then it is given up. */
  readonly retryDelaysMs?: readonly number[];
  readonly sessionTimeoutMs?: number;
  /** The topics to read. Default: the topics of the events in the table. */
  readonly topics?: readonly string[];
}

/** Options of a consumer whose effects and inbox rows share a transaction of the pool. */
export type TransactionalConsumerOptions = CommonOptions & {
  readonly pool: Pool;
  readonly table: ConsumerTable;
  /** Handles many events of the table at a time. Events of one key come in one call, in their order. */
  readonly batchHandler?: BatchHandler | undefined;
  /** `events.inbox.retention`: longer than any topic and the dead letters keep a message. */
  readonly inboxRetentionMs: number;
};
/** Options of a consumer without a database: its handlers tolerate repetitions. */
export type StatelessConsumerOptions = CommonOptions & { readonly pool: null; readonly table: StatelessTable };
export type ConsumerOptions = TransactionalConsumerOptions | StatelessConsumerOptions;

export interface Consumer {
  /** `<service>.<name>` */
  readonly group: string;
  readonly topics: readonly string[];
  /** Starts the named workers of the consumer and adds it to the liveness of the process. */
  start(context: { readonly runner: Runner; readonly health: Health }): void;
}

/** Parked messages wait for seconds at least, so half a second more does not matter. */
const parkedPollMs = 500;
const defaultRetryDelaysMs = [seconds(10), minutes(1), minutes(10)];

/**
 * Reads the events of the table and hands each to its handler: at least once, in order per key, with its effect once.
 */
export function createConsumer(options: TransactionalConsumerOptions): Consumer;
export function createConsumer(options: StatelessConsumerOptions): Consumer;
export function createConsumer(options: ConsumerOptions): Consumer {
  const { service, name, eventLog, log, clock, concurrency = 4, sessionTimeoutMs } = options;
  const { retryDelaysMs = defaultRetryDelaysMs } = options;
  const consumer = `${service}.${name}`;
  const topics = options.topics ?? topicsOf(options.table);
  const lag = new LagMeter({ eventLog, group: consumer, topics, clock });
  const halted = () => reader.halted();
  const metrics = createConsumerMetrics({ metrics: options.metrics, consumer, lag, pool: options.pool, halted });
  const parts: MessageParts = { ...options, consumer, metrics, retryDelaysMs };
  const deadly = options.pool && createDeadlyMessages(options.pool, consumer);
  const limited = createLimiter(concurrency);

  function handle(batch: ReceivedBatch): Promise<number> {
    const handleOne = (record: ReceivedRecord) =>
      deadly?.mayBe(record) ? handleCarefully(parts, deadly, record, batch) : handleMessage(parts, record, batch);
    if (options.pool && deadly && options.batchHandler) {
      const { pool, table, batchHandler } = options;
      return handleTogether({ ...parts, pool, table, batchHandler, deadly, limited, handleOne }, batch);
    }
    return handleBatch({ limited, steadyMs: () => clock.steadyMs(), handle: handleOne, parkBehind }, batch);
  }

  const parkBehind = async (records: readonly ReceivedRecord[]) =>
    parts.pool !== null && (await parkTogether(parts, records));

  function onExpired(expired: ExpiredRecords): void {
    metrics.expired(expired);
    log.error(
      { group: consumer, ...expired },
      "records expired before the group handled them; they are lost for this group",
    );
  }

  const session = sessionTimeoutMs === undefined ? {} : { sessionTimeoutMs };
  const reader = new GroupReader(
    eventLog,
    { group: consumer, topics, concurrency, handle, onExpired, ...session },
    log,
  );

  return {
    group: consumer,
    topics,
    start({ runner, health }) {
      health.live(`consumer ${name}`, () => reader.liveness());
      runner.worker(`consumer ${name}`, (signal, beat) => reader.run(signal, beat));
      if (!options.pool || !deadly) return;
      const { pool, table, inboxRetentionMs } = options;
      runner.every(`parked messages of ${name}`, parkedPollMs, (signal) =>
        drainParked({ ...parts, pool, table, deadly }, signal),
      );
      startRetention({ runner, pool, clock }, [
        inboxRetention(`inbox of ${name}`, consumer, inboxRetentionMs),
        startedRetention(`started messages of ${name}`, consumer, inboxRetentionMs),
      ]);
    },
  };
}

function topicsOf(table: ConsumerTable | StatelessTable): string[] {
  return [...new Set((Object.keys(table) as EventName[]).map((name) => eventOf(name).topic))];
}
