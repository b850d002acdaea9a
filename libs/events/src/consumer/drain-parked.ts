import { isUnavailable } from "@signalbox/core";
import { inTransaction, type Tx } from "@signalbox/storage";
import { decodeEvent, eventNameOf, UnreadableMessage } from "../envelope/decode-event.ts";
import type { ConsumerTable, Handler } from "./consumer-table.ts";
import { recordInInbox } from "./inbox.ts";
import { bury } from "./message-context.ts";
import { type MessageOutcome, reasonOf } from "./message-outcome.ts";
import { isAnyDue, nextParked, type ParkedMessage, postponeParked, removeParked } from "./parked-messages.ts";
import { type Reporting, reportMessage } from "./report-message.ts";
import type { TransactionalParts } from "./transactional-message.ts";

export interface DrainParts extends TransactionalParts, Reporting {
  readonly table: ConsumerTable;
}

/** Tries one parked message again, in the order of its key; several instances share the work. */
export async function drainParked(parts: DrainParts, signal: AbortSignal): Promise<"again" | "done"> {
  try {
    const found = (await isAnyDue(parts.pool, parts.consumer)) && (await tryNext(parts, signal));
    return found ? "again" : "done";
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return "done"; // the database is away: nothing is due
  }
}

/** Tries the message whose turn it is; false when none is due. */
async function tryNext(parts: DrainParts, signal: AbortSignal): Promise<boolean> {
  let failed: { message: ParkedMessage; error: unknown } | null = null;
  const found = await inTransaction(parts.pool, async (tx) => {
    const message = await nextParked(tx, parts.consumer);
    if (!message) return false;
    await reportMessage(parts, message.record, async () => {
      try {
        return { outcome: await effect(parts, tx, message, signal) };
      } catch (error) {
        failed = { message, error };
        throw error;
      }
    });
    return true;
  }).catch((error: unknown) => {
    if (failed === null) throw error;
    return true;
  });
  if (failed) await settleFailure(parts, failed, signal);
  return found;
}

async function effect(
  { consumer, table }: DrainParts,
  tx: Tx,
  { seq, record, attempt }: ParkedMessage,
  signal: AbortSignal,
): Promise<MessageOutcome> {
  await removeParked(tx, seq);
  const name = eventNameOf(record.headers);
  const handler = name && (table[name] as Handler<typeof name> | undefined);
  if (!name || !handler) return "handled"; // this version of the service no longer cares
  const event = decodeEvent(name, record);
  if ((await recordInInbox(tx, consumer, event.id)) === "repeated") return "repeated";
  await handler(event, { tx, signal, attempt: attempt + 1 });
  return "handled";
}

/** Puts the next try off, or gives the message up; what queues behind it then has its turn. */
async function settleFailure(
  parts: DrainParts,
  { message, error }: { message: ParkedMessage; error: unknown },
  signal: AbortSignal,
): Promise<void> {
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
  await inTransaction(parts.pool, (tx) => removeParked(tx, message.seq));
}
