import type { EventName } from "@signalbox/contracts";
import type { Pool } from "@signalbox/storage";
import { replayForHeader } from "../dead-letters/dead-letter.ts";
import { decodeEvent, eventNameOf, UnreadableMessage } from "../envelope/decode-event.ts";
import type { ReceivedRecord } from "../event-log.ts";
import type { ConsumerTable, Handler, StatelessHandler, StatelessTable } from "./consumer-table.ts";
import { type DeadlyMessages, deathsMax } from "./deadly-messages.ts";
import { bury, type Delivery } from "./message-context.ts";
import type { MessageOutcome } from "./message-outcome.ts";
import { type Reporting, reportMessage } from "./report-message.ts";
import { handleStateless } from "./stateless-message.ts";
import { handleInTransaction, type TransactionalParts } from "./transactional-message.ts";

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
