import { setTimeout as sleep } from "node:timers/promises";
import type { EventName } from "@signalbox/contracts";
import { failureChain, failureCode, isSqlState, isUnavailable } from "@signalbox/core";
import { inTransaction, type Pool } from "@signalbox/storage";
import { replayForHeader } from "../dead-letters/dead-letters.ts";
import { decodeEvent, eventNameOf, type ReceivedEvent, UnreadableMessage } from "../envelope/decode-event.ts";
import type { ReceivedRecord } from "../log/event-log.ts";
import type { ConsumerTable, Handler, StatelessHandler, StatelessTable } from "./consumer-table.ts";
import { type DeadlyMessages, deathsMax } from "./deadly-messages.ts";
import { enterInbox } from "./inbox.ts";
import {
  bury,
  type ConsumerParts,
  createBackoff,
  type Delivery,
  Interrupted,
  type MessageOutcome,
  reasonOf,
} from "./message-context.ts";
import { parkBehind, parkBehindOne, parkMessage } from "./parked-messages.ts";
import { type Reporting, reportMessage } from "./report-message.ts";

/** The parts that handle a message: handlers with their database, or handlers that need none. */
export type MessageParts = Reporting &
  Omit<TransactionalParts, "pool"> &
  ({ readonly pool: Pool; readonly table: ConsumerTable } | { readonly pool: null; readonly table: StatelessTable });

/** Handles one message. Returns its outcome, or null when it is not meant for this consumer. */
export async function handleMessage(
  parts: MessageParts,
  record: ReceivedRecord,
  delivery: Delivery,
): Promise<MessageOutcome | null> {
  const { headers } = record;
  if ((headers[replayForHeader] ?? parts.consumer) !== parts.consumer) return null;
  try {
    if (record.unreadable !== undefined) throw new UnreadableMessage(record.unreadable);
    const name = eventNameOf(headers);
    if (!name || !parts.table[name]) return null;
    return await handleEvent(parts, name, record, delivery);
  } catch (error) {
    if (!(error instanceof UnreadableMessage)) throw error;
    return giveUp(parts, record, { reason: error.message, attempts: 1 }, delivery);
  }
}

/** Handles one message that may have killed a former process. It is given up after three deaths. */
export async function handleCarefully(
  parts: MessageParts,
  deadly: DeadlyMessages,
  record: ReceivedRecord,
  delivery: Delivery,
): Promise<MessageOutcome | null> {
  const handle = () => handleMessage(parts, record, delivery);
  const [suspect] = await deadly.begin([record]);
  try {
    if (!suspect) return await handle();
    return await deadly.handleAlone(record, handle, () => giveUp(parts, record, deadlyDeath, delivery));
  } finally {
    await deadly.end([record]);
  }
}

export const deadlyDeath = { reason: `${deathsMax} processes died while they handled it`, attempts: deathsMax };

function giveUp(
  parts: MessageParts,
  record: ReceivedRecord,
  death: { readonly reason: string; readonly attempts: number },
  delivery: Delivery,
): Promise<MessageOutcome> {
  return reportMessage(parts, record, async () => {
    await bury(parts, record, death, delivery);
    return { outcome: "dead", reason: death.reason };
  });
}

function handleEvent<N extends EventName>(parts: MessageParts, name: N, record: ReceivedRecord, delivery: Delivery) {
  const event = decodeEvent(name, record);
  const handler: unknown = parts.table[name];
  return reportMessage(parts, record, () =>
    parts.pool
      ? handleInTransaction(parts, handler as Handler<N>, event, record, delivery)
      : handleStateless(parts, handler as StatelessHandler<N>, event, record, delivery),
  );
}

/** Short, because later messages wait. A handler that needs longer retries keeps a database or publishes a failure. */
const retryDelaysMs = [200, 1_000, 5_000];
const heartbeatEveryMs = 1_000;

/**
 * Handles one message of a consumer without a database: a few tries in place, then the dead letters.
 * @throws Interrupted when the consumer stops meanwhile; the message comes again.
 */
async function handleStateless<N extends EventName>(
  parts: ConsumerParts,
  handler: StatelessHandler<N>,
  event: ReceivedEvent<N>,
  record: ReceivedRecord,
  delivery: Delivery,
): Promise<{ outcome: MessageOutcome; reason?: string }> {
  for (let attempt = 1; ; attempt++) {
    if (delivery.signal.aborted) throw new Interrupted("stopped before the message was handled");
    try {
      await handler(event, { signal: delivery.signal, heartbeat: delivery.heartbeat, attempt });
      return { outcome: "handled" };
    } catch (error) {
      if (delivery.signal.aborted) throw new Interrupted("stopped while the message was handled", { cause: error });
      const delayMs = retryDelaysMs[attempt - 1];
      if (delayMs === undefined) {
        const reason = reasonOf(error);
        await bury(parts, record, { reason, attempts: attempt }, delivery);
        return { outcome: "dead", reason };
      }
      await beatFor(delayMs, delivery);
    }
  }
}

async function beatFor(delayMs: number, { signal, heartbeat }: Delivery): Promise<void> {
  for (let left = delayMs; left > 0 && !signal.aborted; left -= heartbeatEveryMs) {
    await sleep(Math.min(left, heartbeatEveryMs), undefined, { signal }).catch(() => {});
    await heartbeat();
  }
}

/** A conflict or a restart passes; an error that stays for this many tries is the message's own. */
const transientAttemptsMax = 3;

export interface TransactionalParts extends ConsumerParts {
  readonly pool: Pool;
  readonly retryDelaysMs: readonly number[];
}

/**
 * Handles one message with its inbox row in one transaction. A failure parks the key, so that later messages queue
 * behind it; while the database is away the message waits here.
 * @throws Interrupted when the consumer stops meanwhile; the message comes again.
 */
async function handleInTransaction<N extends EventName>(
  parts: TransactionalParts,
  handler: Handler<N>,
  event: ReceivedEvent<N>,
  record: ReceivedRecord,
  delivery: Delivery,
): Promise<{ outcome: MessageOutcome; reason?: string }> {
  const { pool, consumer, retryDelaysMs, log } = parts;
  const backoff = createBackoff(delivery.signal, delivery.heartbeat);
  let transientFailures = 0;
  for (;;) {
    if (delivery.signal.aborted) throw new Interrupted("stopped before the message was handled");
    try {
      const outcome = await attempt(parts, handler, event, record, delivery.signal);
      log.outage("The database").passed(`consumer ${consumer}`);
      return { outcome };
    } catch (error) {
      if (delivery.signal.aborted) throw new Interrupted("stopped while the message was handled", { cause: error });
      if (isUnavailable(error)) {
        const isAway = (await pool.health()) !== null;
        if (isAway) log.outage("The database").failed(`consumer ${consumer}`, error);
        if (isAway || transientFailures++ < transientAttemptsMax) {
          await backoff.pause();
          continue;
        }
      }
      const reason = reasonOf(error);
      const parking = { attempt: 1, delayMs: retryDelaysMs[0] ?? 0, reason };
      const obstacle = await inTransaction(pool, (tx) => parkMessage(tx, consumer, record, parking)).then(
        () => null,
        asError,
      );
      if (obstacle === null) return { outcome: "parked", reason };
      if (isUnstorable(obstacle)) {
        await bury(parts, record, { reason: `${reason}; parking: ${reasonOf(obstacle)}`, attempts: 1 }, delivery);
        return { outcome: "dead", reason };
      }
      await backoff.pause(); // the database went away before the failure was recorded: the message is tried again
    }
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/**
 * Recognizes a message that PostgreSQL never takes: class 22, such as a NUL in its key, or class 54, a key too long for
 * an index. Waiting would block its partition for ever.
 */
function isUnstorable(error: Error): boolean {
  return failureChain(error).some((link) => {
    const code = failureCode(link);
    return isSqlState(code) && (code.startsWith("22") || code.startsWith("54"));
  });
}

function attempt<N extends EventName>(
  { pool, consumer }: TransactionalParts,
  handler: Handler<N>,
  event: ReceivedEvent<N>,
  record: ReceivedRecord,
  signal: AbortSignal,
): Promise<MessageOutcome> {
  return inTransaction(pool, async (tx) => {
    const place = await enterInbox(tx, consumer, record.key, event.id);
    if (place === "repeated") return "repeated";
    if (place === "parked") {
      await parkBehindOne(tx, consumer, record);
      return "queued";
    }
    await handler(event, { tx, signal, attempt: 1 });
    return "handled";
  });
}

interface ParkingParts extends Reporting {
  readonly pool: Pool;
  readonly table: ConsumerTable;
}

/**
 * Parks the messages of one key that follow a waiting one, in one transaction. Returns false when the queue was emptied
 * meanwhile or parking failed; they are then handled one by one. The messages stay unread until their turn.
 */
export async function parkTogether(parts: ParkingParts, records: readonly ReceivedRecord[]): Promise<boolean> {
  const { consumer, pool, table, log, clock, metrics } = parts;
  const startedMs = clock.steadyMs();
  try {
    const meant = records.filter(({ headers }) => {
      const name = eventNameOf(headers);
      return name && table[name] && (headers[replayForHeader] ?? consumer) === consumer;
    });
    const [first] = meant;
    if (!first) return true;
    const parked = await inTransaction(pool, (tx) => parkBehind(tx, consumer, meant));
    if (parked.size === 0) return false;
    const durationMs = clock.steadyMs() - startedMs;
    for (const { headers } of meant) metrics.handled(headers.ce_type ?? "", "queued", durationMs / 1000);
    const { topic, partition, offset, key } = first;
    const fields = { consumer, key, topic, partition, offset: String(offset), events: meant.length };
    log.info({ ...fields, outcome: "queued", durationMs: Math.round(durationMs) }, "messages");
    return true;
  } catch (error) {
    log.info({ consumer, error, records: records.length }, "messages are now parked one by one");
    return false;
  }
}
