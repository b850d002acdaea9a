import { type Pool, sql } from "@signalbox/storage";
import { keyHash } from "../partition-of.ts";

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
const list = sql("outbox.list-dead", `select ${columns} from signalbox.outbox_dead order by moved_at, id`);
/** Compared as text: an operator's input need not be a UUID. */
const find = sql("outbox.find-dead", `select ${columns} from signalbox.outbox_dead where event_id::text = $1`);
const replay = sql(
  "outbox.replay-dead",
  `with dead as (
     delete from signalbox.outbox_dead where event_id::text = $1 returning event_id, topic, key, headers, payload
   )
   insert into signalbox.outbox (event_id, shard, topic, key, headers, payload, key_hash)
   select event_id, hashtext(key) & 7, topic, key, headers, payload, $2 from dead`,
);
const drop = sql("outbox.drop-dead", "delete from signalbox.outbox_dead where event_id::text = $1");

/** Lists the refused events of a service, oldest first. */
export async function listDeadEvents(pool: Pool): Promise<DeadEvent[]> {
  return (await pool.query<DeadRow>(list)).rows.map(toDeadEvent);
}

export async function findDeadEvent(pool: Pool, id: string): Promise<DeadEvent | null> {
  const row = (await pool.query<DeadRow>(find, [id])).rows[0];
  return row ? toDeadEvent(row) : null;
}

/**
 * Puts the event back into the outbox, with its id, behind later events of its key. One statement moves it, so it is
 * always in exactly one of the two tables, and the second of two replays finds nothing. Returns false when there is no
 * such event.
 */
export async function replayDeadEvent(pool: Pool, id: string): Promise<boolean> {
  const dead = await findDeadEvent(pool, id);
  return dead !== null && (await pool.query(replay, [id, keyHash(dead.key)])).rowCount > 0;
}

/** Removes the event for good; returns false when there is none. */
export async function dropDeadEvent(pool: Pool, id: string): Promise<boolean> {
  return (await pool.query(drop, [id])).rowCount > 0;
}

function toDeadEvent({ event_id, headers, payload, moved_at, topic, key, reason }: DeadRow): DeadEvent {
  return { id: event_id, topic, key, headers: JSON.parse(headers), value: payload, reason, time: moved_at };
}
