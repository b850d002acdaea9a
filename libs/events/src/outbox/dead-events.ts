import { type Queryable, sql } from "@signalbox/storage";
import { keyHash } from "../log/partition-of.ts";

/** An event that the log refused for good, as an operator sees it. */
export interface DeadEvent {
  /** The id of the event itself. */
  readonly id: string;
  readonly topic: string;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null for a tombstone. */
  readonly value: Buffer | null;
  readonly reason: string;
  /** Time of the refusal. */
  readonly time: Date;
}

interface DeadRow {
  readonly event_id: string;
  readonly topic: string;
  readonly key: string;
  readonly headers: string;
  readonly payload: Buffer | null;
  readonly reason: string;
  readonly moved_at: Date;
}

const columns = "event_id, topic, key, headers, payload, reason, moved_at";
const listStatement = sql(
  "outbox.list-dead",
  `select ${columns} from signalbox.outbox_dead
   where $1::timestamptz is null or (date_trunc('milliseconds', moved_at), event_id::text collate "C") > ($1, $2)
   order by date_trunc('milliseconds', moved_at), event_id::text collate "C" limit $3`,
);
/** Compared as text: an operator's input need not be a UUID. */
const findStatement = sql("outbox.find-dead", `select ${columns} from signalbox.outbox_dead where event_id::text = $1`);
const replayStatement = sql(
  "outbox.replay-dead",
  `with dead as (
     delete from signalbox.outbox_dead where event_id::text = $1 returning event_id, topic, key, headers, payload
   )
   insert into signalbox.outbox (event_id, shard, topic, key, headers, payload, key_hash)
   select event_id, hashtext(key) & 7, topic, key, headers, payload, $2 from dead`,
);
const dropStatement = sql("outbox.drop-dead", "delete from signalbox.outbox_dead where event_id::text = $1");

/** A place in a list that is read in parts, the oldest first; ids decide between equal times. */
export interface ListStart {
  readonly after: { readonly at: Date; readonly id: string } | null;
  readonly limit: number;
}

/** Lists refused events of a service, oldest first. */
export async function list(db: Queryable, { after, limit }: ListStart): Promise<DeadEvent[]> {
  return (await db.query<DeadRow>(listStatement, [after?.at ?? null, after?.id ?? "", limit])).rows.map(toDeadEvent);
}

export async function find(db: Queryable, id: string): Promise<DeadEvent | null> {
  const row = (await db.query<DeadRow>(findStatement, [id])).rows[0];
  return row ? toDeadEvent(row) : null;
}

/**
 * Puts the event back into the outbox, with its id, behind later events of its key. One statement moves it, so it is
 * always in exactly one of the two tables, and the second of two replays finds nothing. Returns false when there is no
 * such event.
 */
export async function replay(db: Queryable, { id, key }: Pick<DeadEvent, "id" | "key">): Promise<boolean> {
  return (await db.query(replayStatement, [id, keyHash(key)])).rowCount > 0;
}

/** Removes the event for good; returns false when there is none. */
export async function drop(db: Queryable, id: string): Promise<boolean> {
  return (await db.query(dropStatement, [id])).rowCount > 0;
}

function toDeadEvent({ event_id, headers, payload, moved_at, topic, key, reason }: DeadRow): DeadEvent {
  return { id: event_id, topic, key, headers: JSON.parse(headers), value: payload, reason, time: moved_at };
}
