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
     select distinct key from unnest($2::text[]) as given (key)
     where (select exists (select from signalbox.parked where consumer = $1)) and signalbox.is_parked($1, key)
   ), entered as (
     insert into signalbox.inbox (consumer, event_id)
     select $1, event_id from unnest($2::text[], $3::uuid[]) as given (key, event_id)
     where not exists (select from queues where queues.key = given.key)
     on conflict do nothing returning event_id
   )
   select array(select key from queues) as parked, array(select event_id::text from entered) as entered`,
);
const recordStatement = sql(
  "inbox.record",
  `insert into signalbox.inbox (consumer, event_id) select $1, event_id from unnest($2::uuid[]) as given (event_id)
   on conflict do nothing returning event_id::text as id`,
);
const leaveStatement = sql(
  "inbox.leave",
  "delete from signalbox.inbox where consumer = $1 and event_id = any($2::uuid[])",
);

/**
 * Claims the effect of an event for this transaction: `new` grants it, `repeated` means that it has already happened,
 * `parked` means that earlier messages of the key are waiting. Waits for a concurrent transaction with the same event.
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

/** Claims several events at once, each with its key; returns the parked keys, and the new events of all other keys. */
export async function enterInboxTogether(
  tx: Tx,
  consumer: string,
  keys: readonly string[],
  eventIds: readonly string[],
): Promise<{ readonly parked: ReadonlySet<string>; readonly entered: ReadonlySet<string> }> {
  const values = [consumer, keys, eventIds];
  const [answer] = (await tx.query<{ parked: string[]; entered: string[] }>(enterAllStatement, values)).rows;
  return { parked: new Set(answer?.parked), entered: new Set(answer?.entered) };
}

/** Claims the next messages of a parked key; returns the ids whose effect has not happened yet. */
export async function recordInInbox(tx: Tx, consumer: string, eventIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>(recordStatement, [consumer, eventIds]);
  return new Set(rows.map(({ id }) => id));
}

/** Withdraws events that were entered in this transaction and had no effect. */
export async function leaveInbox(tx: Tx, consumer: string, eventIds: readonly string[]): Promise<void> {
  await tx.query(leaveStatement, [consumer, eventIds]);
}

/** Forgets events that can no longer come: older than topics and dead letters keep them. */
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
