import { setTimeout as sleep } from "node:timers/promises";
import { type EventName, eventOf, type ServiceName } from "@signalbox/contracts";
import { type Clock, hours, minutes, seconds } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import type { Pool } from "@signalbox/storage";
import type { Logger, Metrics, Tracer } from "@signalbox/telemetry";
import { replayForHeader } from "../dead-letters/dead-letter.ts";
import type { DeadLetters } from "../dead-letters/dead-letters.ts";
import { decodeEvent, eventNameOf, UnreadableMessage } from "../envelope/decode-event.ts";
import type { EventLog, ReceivedBatch, ReceivedRecord, Subscription } from "../event-log.ts";
import { createLimiter } from "../limiter.ts";
import { createConsumerMetrics } from "./consumer-metrics.ts";
import type { ConsumerTable, Handler, StatelessHandler, StatelessTable } from "./consumer-table.ts";
import { runParkedMessages } from "./drain-parked.ts";
import { handleBatch } from "./handle-batch.ts";
import { runInboxCleaning } from "./inbox.ts";
import { bury } from "./message-context.ts";
import type { MessageOutcome } from "./message-outcome.ts";
import { reportMessage } from "./report-message.ts";
import { handleStateless } from "./stateless-message.ts";
import { handleInTransaction } from "./transactional-message.ts";

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
  /** Messages handled at the same time, of different keys. Default 4: each holds a connection of the pool. */
  readonly concurrency?: number;
  /** Waits before the second, third and fourth try of a parked message; then it is given up. */
  readonly retryDelaysMs?: readonly number[];
  /** `events.inbox.retention`: longer than any topic and the dead letters keep a message. */
  readonly inboxRetentionMs?: number;
  readonly sessionTimeoutMs?: number;
  /** The topics to read; those of the events in the table when left out. */
  readonly topics?: readonly string[];
}

/** A handler's effect and its inbox row share a transaction of the pool. */
export type TransactionalConsumerOptions = CommonOptions & { readonly pool: Pool; readonly table: ConsumerTable };
/** Without a database, handlers bear repetitions. */
export type StatelessConsumerOptions = CommonOptions & { readonly pool: null; readonly table: StatelessTable };
export type ConsumerOptions = TransactionalConsumerOptions | StatelessConsumerOptions;

export interface Consumer {
  /** Starts the named workers of the consumer. */
  start(runner: Pick<Runner, "worker">): void;
  /** Why it is not reading, or null. */
  health(): string | null;
}

const defaultRetryDelaysMs = [seconds(10), minutes(1), minutes(10)];
const defaultInboxRetentionMs = hours(24 * 45);
const reconnectMs = 1_000;

/** Reads the events of the table and hands each to its verb: at least once, in order per key, with its effect once. */
export function createConsumer(options: TransactionalConsumerOptions): Consumer;
export function createConsumer(options: StatelessConsumerOptions): Consumer;
export function createConsumer(options: ConsumerOptions): Consumer {
  const { service, name, eventLog, log, clock, concurrency = 4 } = options;
  const { retryDelaysMs = defaultRetryDelaysMs, inboxRetentionMs = defaultInboxRetentionMs } = options;
  const consumer = `${service}.${name}`;
  const metrics = createConsumerMetrics(options.metrics, clock, consumer, options.pool);
  const parts = { ...options, consumer, metrics, retryDelaysMs };
  const limited = createLimiter(concurrency);
  let subscription: Subscription | null = null;

  /** Says what became of the message, or null for one that is not meant for this consumer. */
  async function handle(record: ReceivedRecord, delivery: ReceivedBatch): Promise<MessageOutcome | null> {
    const { headers } = record;
    if ((headers[replayForHeader] ?? consumer) !== consumer) return null;
    try {
      const eventName = eventNameOf(headers);
      if (!eventName || !options.table[eventName]) return null;
      return await handleEvent(eventName, record, delivery);
    } catch (error) {
      if (!(error instanceof UnreadableMessage)) throw error;
      return await reportMessage(parts, record, async () => {
        await bury(parts, record, { reason: error.message, attempts: 1 }, delivery);
        return { outcome: "dead", reason: error.message };
      });
    }
  }

  function handleEvent<N extends EventName>(eventName: N, record: ReceivedRecord, delivery: ReceivedBatch) {
    const event = decodeEvent(eventName, record);
    return reportMessage(parts, record, () =>
      parts.pool
        ? handleInTransaction(
            { ...parts, pool: parts.pool },
            parts.table[eventName] as Handler<N>,
            event,
            record,
            delivery,
          )
        : handleStateless(parts, parts.table[eventName] as StatelessHandler<N>, event, record, delivery),
    );
  }

  async function onBatch(batch: ReceivedBatch): Promise<number> {
    const finished = metrics.taken(batch);
    try {
      return await handleBatch({ limited, steadyMs: () => clock.steadyMs(), handle }, batch);
    } finally {
      finished();
    }
  }

  /** Waits for a log that is away; a subscription that cannot go on ends the worker, and its supervisor starts another. */
  async function read(signal: AbortSignal, beat: () => void): Promise<void> {
    subscription = await subscribe(signal, beat);
    if (!subscription) return;
    try {
      while (!signal.aborted) {
        beat();
        const pause = sleep(reconnectMs, undefined, { signal }).catch(() => {});
        await Promise.race([subscription.ended, pause]);
      }
    } finally {
      await subscription.close();
    }
  }

  async function subscribe(signal: AbortSignal, beat: () => void): Promise<Subscription | null> {
    const topics = options.topics ?? topicsOf(options.table);
    const { sessionTimeoutMs } = options;
    for (let failures = 0; !signal.aborted; failures++) {
      beat();
      try {
        const session = sessionTimeoutMs === undefined ? {} : { sessionTimeoutMs };
        return await eventLog.subscribe({ group: consumer, topics, concurrency, handle: onBatch, ...session });
      } catch (error) {
        if (failures % 30 === 0) log.warn({ error, consumer }, "the consumer waits for the event log");
        await sleep(reconnectMs, undefined, { signal }).catch(() => {});
      }
    }
    return null;
  }

  return {
    start(runner) {
      runner.worker(`consumer ${name}`, read);
      const { pool, table } = options;
      if (!pool) return;
      runner.worker(`parked messages of ${name}`, (signal, beat) =>
        runParkedMessages({ ...parts, pool, table }, signal, beat),
      );
      runner.worker(`inbox of ${name}`, (signal, beat) =>
        runInboxCleaning({ pool, log, consumer, retentionMs: inboxRetentionMs }, signal, beat),
      );
    },
    health: () => (subscription ? subscription.health() : `consumer ${name} has not reached the event log yet`),
  };
}

function topicsOf(table: ConsumerTable | StatelessTable): string[] {
  return [...new Set((Object.keys(table) as EventName[]).map((name) => eventOf(name).topic))];
}
