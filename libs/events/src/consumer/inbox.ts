import { setTimeout as sleep } from "node:timers/promises";
import { hours } from "@signalbox/core";
import { type Pool, sql, type Tx } from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";

const enterStatement = sql(
  "inbox.enter",
  `with queue as (
     select from signalbox.parked where consumer = $1 and key = $2 limit 1
   ), entered as (
     insert into signalbox.inbox (consumer, event_id) select $1, $3 where not exists (select from queue)
     on conflict do nothing returning 1
   )
   select exists (select from queue) as parked, exists (select from entered) as entered`,
);
const recordStatement = sql(
  "inbox.record",
  "insert into signalbox.inbox (consumer, event_id) values ($1, $2) on conflict do nothing",
);
const forget = sql(
  "inbox.forget",
  `delete from signalbox.inbox where ctid = any (array(
     select ctid from signalbox.inbox
     where consumer = $1 and received_at < clock_timestamp() - $2 * interval '1 ms' limit $3))`,
);

const cleanEveryMs = hours(1);
const rowsPerStep = 5_000;

/**
 * Asks to have the effect of an event in this transaction: `new` grants it, `repeated` says that it has happened, `parked`
 * that the key has messages waiting which come first. A concurrent transaction with the same event is waited for.
 */
export async function enterInbox(
  tx: Tx,
  consumer: string,
  key: string,
  eventId: string,
): Promise<"new" | "repeated" | "parked"> {
  const { rows } = await tx.query<{ parked: boolean; entered: boolean }>(enterStatement, [consumer, key, eventId]);
  if (rows[0]?.parked) return "parked";
  return rows[0]?.entered ? "new" : "repeated";
}

/** The same for a message whose turn it is in the queue of its key. */
export async function recordInInbox(tx: Tx, consumer: string, eventId: string): Promise<"new" | "repeated"> {
  return (await tx.query(recordStatement, [consumer, eventId])).rowCount === 1 ? "new" : "repeated";
}

/** The worker that forgets events which can no longer come: older than topics and dead letters keep them. */
export async function runInboxCleaning(
  { pool, log, consumer, retentionMs }: { pool: Pool; log: Logger; consumer: string; retentionMs: number },
  signal: AbortSignal,
  beat: () => void,
): Promise<void> {
  while (!signal.aborted) {
    beat();
    const removed = await pool.query(forget, [consumer, retentionMs, rowsPerStep]).catch((error: unknown) => {
      log.warn({ error, consumer }, "the inbox could not be cleaned");
      return { rowCount: 0 };
    });
    if (removed.rowCount === rowsPerStep) continue;
    await sleep(cleanEveryMs, undefined, { signal }).catch(() => {});
  }
}
