import { inTransaction, type Pool } from "@signalbox/storage";
import { replayForHeader } from "../dead-letters/dead-letter.ts";
import { eventNameOf } from "../envelope/decode-event.ts";
import type { ReceivedRecord } from "../event-log.ts";
import type { ConsumerTable } from "./consumer-table.ts";
import { parkBehind } from "./parked-messages.ts";
import type { Reporting } from "./report-message.ts";

interface ParkingParts extends Reporting {
  readonly pool: Pool;
  readonly table: ConsumerTable;
}

/**
 * Parks the messages of one key that follow a waiting one, in one transaction. Returns false when the queue was emptied
 * meanwhile or parking failed; they are then handled one by one. The messages stay unread until their turn.
 */
export async function parkRest(parts: ParkingParts, records: readonly ReceivedRecord[]): Promise<boolean> {
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
    log.info({ consumer, error, records: records.length }, "messages are parked one by one");
    return false;
  }
}
