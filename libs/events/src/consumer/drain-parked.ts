import type { EventName } from "@signalbox/contracts";
import { isUnavailable } from "@signalbox/core";
import { inTransaction, type Tx } from "@signalbox/storage";
import { decodeEvent, eventNameOf, type ReceivedEvent, UnreadableMessage } from "../envelope/decode-event.ts";
import type { ConsumerTable, Handler } from "./consumer-table.ts";
import { type DeadlyMessages, isSamePlace } from "./deadly-messages.ts";
import { deadlyDeath, type TransactionalParts } from "./handle-message.ts";
import { leaveInbox, recordInInbox } from "./inbox.ts";
import { bury, type MessageOutcome, reasonOf } from "./message-context.ts";
import { dueMessages, isAnyDue, type ParkedMessage, postponeParked, removeParked } from "./parked-messages.ts";
import { type Reporting, reportMessage } from "./report-message.ts";

export interface DrainParts extends TransactionalParts, Reporting {
  readonly table: ConsumerTable;
  readonly deadly: DeadlyMessages;
}

/** A larger batch is not faster, and the locks of all its effects are held until the commit. */
const batchMax = 50;
const turnMs = 500;

/** Retries parked messages in the order of their key; several instances share the work. */
export async function drainParked(parts: DrainParts, signal: AbortSignal): Promise<"again" | "done"> {
  try {
    const found = (await isAnyDue(parts.pool, parts.consumer)) && (await drainQueue(parts, batchMax, signal));
    return found ? "again" : "done";
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return "done"; // the database is away: nothing is due
  }
}

interface Failure {
  readonly message: ParkedMessage;
  readonly error: unknown;
}

/** Retries the first messages of the due queue in one transaction; returns false when no queue is due. */
async function drainQueue(parts: DrainParts, max: number, signal: AbortSignal): Promise<boolean> {
  const handled: ParkedMessage[] = [];
  const failures: Failure[] = [];
  try {
    return await inTransaction(parts.pool, async (tx) => {
      handled.length = 0; // a lost deadlock repeats all of it
      failures.length = 0;
      const endsMs = parts.clock.steadyMs() + turnMs;
      const due = await dueMessages(tx, parts.consumer, max);
      await carefully(parts.deadly, due, {
        async handle(messages) {
          const turn = await enterTogether(parts, tx, messages);
          for (const message of messages) {
            if (handled.length > 0 && (signal.aborted || parts.clock.steadyMs() > endsMs)) break;
            await reportMessage(parts, message.record, async () => ({
              outcome: await turn.effect(message, signal),
            })).catch((error: unknown) => {
              failures.push({ message, error });
              throw error;
            });
            handled.push(message);
          }
          await turn.leave(messages.slice(handled.length));
        },
        async giveUp(message) {
          await bury(parts, message.record, deadlyDeath, { signal, heartbeat: async () => {} });
          handled.push(message);
        },
      });
      await removeParked(tx, parts.consumer, handled);
      return due.length > 0;
    });
  } catch (error) {
    const [failure] = failures;
    if (!failure) throw error;
    // The transaction is lost to all of them. The messages before the failed one are handled without it; then it is
    // first.
    if (handled.length > 0) return drainQueue(parts, handled.length, signal);
    await settleFailure(parts, failure, signal);
    return true;
  }
}

interface Turn {
  handle(messages: readonly ParkedMessage[]): Promise<void>;
  giveUp(message: ParkedMessage): Promise<void>;
}

/** Hands over the messages before the first that may have killed a former process, or that one alone. */
async function carefully(deadly: DeadlyMessages, due: readonly ParkedMessage[], turn: Turn): Promise<void> {
  const [first] = due;
  if (!first) return;
  const suspects = await deadly.begin(due.map(({ record }) => record));
  const isSuspect = ({ record }: ParkedMessage) => suspects.some((suspect) => isSamePlace(suspect, record));
  const firstSuspect = due.findIndex(isSuspect);
  try {
    if (firstSuspect === 0) {
      await deadly.handleAlone(
        first.record,
        () => turn.handle([first]),
        () => turn.giveUp(first),
      );
    } else await turn.handle(firstSuspect < 0 ? due : due.slice(0, firstSuspect));
  } finally {
    await deadly.end(due.filter((message) => message === first || !isSuspect(message)).map(({ record }) => record));
  }
}

/** Enters the messages in the inbox with one statement and returns the function that handles them one by one. */
async function enterTogether({ consumer, table }: DrainParts, tx: Tx, messages: readonly ParkedMessage[]) {
  const readings = new Map(messages.map((message) => [message, read(table, message)]));
  const idsOf = (some: readonly ParkedMessage[]) => some.flatMap((message) => readings.get(message)?.event?.id ?? []);
  const entered = await recordInInbox(tx, consumer, idsOf(messages));
  return {
    async effect(message: ParkedMessage, signal: AbortSignal): Promise<MessageOutcome> {
      const { event, error } = readings.get(message) as Reading;
      if (error) throw error;
      if (!event) return "handled"; // no handler in this version of the service
      if (!entered.delete(event.id)) return "repeated";
      const handler = table[event.name] as Handler<EventName>;
      await handler(event, { tx, signal, attempt: message.attempt + 1 });
      return "handled";
    },
    /** Removes the messages that were not handled. */
    async leave(rest: readonly ParkedMessage[]): Promise<void> {
      const ids = idsOf(rest).filter((id) => entered.has(id));
      if (ids.length > 0) await leaveInbox(tx, consumer, ids);
    },
  };
}

/** The event of a message, null when no handler wants it, or the reason why it cannot be read. */
type Reading =
  | { readonly event: ReceivedEvent | null; readonly error?: undefined }
  | { readonly event?: undefined; readonly error: unknown };

function read(table: ConsumerTable, { record }: ParkedMessage): Reading {
  try {
    const name = eventNameOf(record.headers);
    return { event: name && table[name] ? decodeEvent(name, record) : null };
  } catch (error) {
    return { error };
  }
}

/** Postpones the next try, or gives the message up so that the queue behind it goes on. */
async function settleFailure(parts: DrainParts, { message, error }: Failure, signal: AbortSignal): Promise<void> {
  const attempt = message.attempt + 1;
  const delayMs = parts.retryDelaysMs[attempt - 1];
  const reason = reasonOf(error);
  if (signal.aborted || isUnavailable(error)) {
    return inTransaction(parts.pool, (tx) => postponeParked(tx, message.seq, { ...message, delayMs: 1_000, reason }));
  }
  if (delayMs !== undefined && !(error instanceof UnreadableMessage)) {
    return inTransaction(parts.pool, (tx) => postponeParked(tx, message.seq, { attempt, delayMs, reason }));
  }
  await bury(parts, message.record, { reason, attempts: attempt }, { signal, heartbeat: async () => {} });
  await inTransaction(parts.pool, (tx) => removeParked(tx, parts.consumer, [message]));
}
