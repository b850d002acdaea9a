import type { EventName } from "@signalbox/contracts";
import { failureChain, failureCode, isSqlState, isUnavailable } from "@signalbox/core";
import { inTransaction, type Pool } from "@signalbox/storage";
import type { ReceivedEvent } from "../envelope/decode-event.ts";
import type { ReceivedRecord } from "../event-log.ts";
import type { Handler } from "./consumer-table.ts";
import { enterInbox } from "./inbox.ts";
import { bury, type ConsumerParts, type Delivery } from "./message-context.ts";
import { Interrupted, type MessageOutcome, reasonOf } from "./message-outcome.ts";
import { parkBehindOne, parkMessage } from "./parked-messages.ts";
import { createPatience } from "./patience.ts";

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
export async function handleInTransaction<N extends EventName>(
  parts: TransactionalParts,
  handler: Handler<N>,
  event: ReceivedEvent<N>,
  record: ReceivedRecord,
  delivery: Delivery,
): Promise<{ outcome: MessageOutcome; reason?: string }> {
  const { pool, consumer, retryDelaysMs, log } = parts;
  const patience = createPatience(delivery.signal, delivery.heartbeat);
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
          await patience.pause();
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
      await patience.pause(); // the database went away before the failure was recorded: the message is tried again
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
