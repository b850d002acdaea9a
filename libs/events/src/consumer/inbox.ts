import { hours } from "@signalbox/core";
import { type RetentionRule, sql, type Tx } from "@signalbox/storage";

const enterStatement = sql(
  "inbox.enter",
  `with queue as materialized (
     select signalbox.is_parked($1, $2) as parked
   ), entered as (
     insert into signalbox.inbox (consumer, event_id) select $1, $3 from queue where not parked
     on conflict do nothing returning 1
   )
   select parked, exists (select from entered) as entered from queue`,
);
/** Not prepared: a plan made while nothing is parked would read all of it once something is. */
const enterAllStatement = sql(
  "",
  `with queues as materialized (
     select exists (select from signalbox.parked where consumer = $1) and exists (
       select from unnest($2::text[]) as given (key) where signalbox.is_parked($1, key)) as parked
   ), entered as (
     insert into signalbox.inbox (consumer, event_id)
     select $1, event_id from unnest($3::uuid[]) as given (event_id), queues where not parked
     on conflict do nothing returning event_id
   )
   select parked, array(select event_id::text from entered) as entered from queues`,
);
const recordStatement = sql(
  "inbox.record",
  "insert into signalbox.inbox (consumer, event_id) values ($1, $2) on conflict do nothing",
);

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

/** The same for several events at once: those whose effect has not happened yet, or `parked` when one of the keys is. */
export async function enterInboxTogether(
  tx: Tx,
  consumer: string,
  keys: readonly string[],
  eventIds: readonly string[],
): Promise<ReadonlySet<string> | "parked"> {
  const values = [consumer, [...new Set(keys)], [...new Set(eventIds)]];
  const [answer] = (await tx.query<{ parked: boolean; entered: string[] }>(enterAllStatement, values)).rows;
  return answer === undefined || answer.parked ? "parked" : new Set(answer.entered);
}

/** The same for a message whose turn it is in the queue of its key. */
export async function recordInInbox(tx: Tx, consumer: string, eventId: string): Promise<"new" | "repeated"> {
  return (await tx.query(recordStatement, [consumer, eventId])).rowCount === 1 ? "new" : "repeated";
}

/** Forgets events which can no longer come: older than topics and dead letters keep them. */
export function inboxRetention(name: string, consumer: string, keepMs: number): RetentionRule {
  return {
    name,
    table: "signalbox.inbox",
    column: "received_at",
    condition: "consumer = $2",
    values: [consumer],
    keepMs,
    batch: 5_000,
    everyMs: hours(1),
  };
}
