import { type Pool, type Queryable, sql, type Tx } from "@signalbox/storage";
import type { ReceivedRecord } from "../event-log.ts";

/** A message that waits in the queue of its key. */
export interface ParkedMessage {
  readonly seq: bigint;
  readonly record: ReceivedRecord;
  /** Tries so far. */
  readonly attempt: number;
  readonly reason: string;
}

interface ParkedRow {
  readonly seq: bigint;
  readonly key: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly timestamp_ms: bigint;
  readonly headers: string;
  readonly payload: Buffer | null;
  readonly attempt: number;
  readonly reason: string;
}

const reasonLengthMax = 2_000;

/** The same message parks once, however often it is delivered. */
const parkStatement = sql(
  "parked.park",
  `insert into signalbox.parked
     (consumer, key, topic, partition, "offset", timestamp_ms, headers, payload, attempt, next_at, reason)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, clock_timestamp() + $10 * interval '1 ms', $11)
   on conflict (consumer, topic, partition, "offset") do nothing`,
);
/** The first of a key whose time has come. Only the first: a second one never overtakes, also while the first is locked. */
const nextStatement = sql(
  "parked.next",
  `select seq, key, topic, partition, "offset", timestamp_ms, headers, payload, attempt, reason
   from signalbox.parked
   where consumer = $1 and next_at <= clock_timestamp() and not exists (
     select from signalbox.parked earlier
     where earlier.consumer = $1 and earlier.key = parked.key and earlier.seq < parked.seq)
   order by next_at, seq limit 1 for update skip locked`,
);
const dueStatement = sql(
  "parked.due",
  "select exists (select from signalbox.parked where consumer = $1 and next_at <= clock_timestamp()) as due",
);
const postponeStatement = sql(
  "parked.postpone",
  `update signalbox.parked set attempt = $2, next_at = clock_timestamp() + $3 * interval '1 ms', reason = $4
   where seq = $1`,
);
const removeStatement = sql("parked.remove", "delete from signalbox.parked where seq = $1");
const depthStatement = sql(
  "parked.depth",
  `select count(*)::int as depth,
     coalesce(extract(epoch from clock_timestamp() - min(parked_at))::float8, 0) as age
   from signalbox.parked where consumer = $1`,
);

export interface Parking {
  readonly attempt: number;
  readonly delayMs: number;
  readonly reason: string;
}

/** Puts a message at the end of the queue of its key. */
export async function parkMessage(
  queryable: Queryable,
  consumer: string,
  record: ReceivedRecord,
  { attempt, delayMs, reason }: Parking,
): Promise<void> {
  const { key, topic, partition, offset, timestampMs, headers, value } = record;
  const values = [consumer, key, topic, partition, offset, timestampMs, JSON.stringify(headers), value];
  await queryable.query(parkStatement, [...values, attempt, delayMs, shorten(reason)]);
}

/** Looks cheaply for a due message, because nearly always nothing is parked. */
export async function isAnyDue(pool: Pool, consumer: string): Promise<boolean> {
  return (await pool.query<{ due: boolean }>(dueStatement, [consumer])).rows[0]?.due === true;
}

/** Locks the next message to try, or null when none is due. */
export async function nextParked(tx: Tx, consumer: string): Promise<ParkedMessage | null> {
  const { rows } = await tx.query<ParkedRow>(nextStatement, [consumer]);
  const row = rows[0];
  if (!row) return null;
  const { seq, attempt, reason, topic, partition, offset, key, payload } = row;
  const headers = JSON.parse(row.headers) as Record<string, string>;
  const timestampMs = Number(row.timestamp_ms);
  return { seq, attempt, reason, record: { topic, partition, offset, timestampMs, key, headers, value: payload } };
}

export async function postponeParked(tx: Tx, seq: bigint, { attempt, delayMs, reason }: Parking): Promise<void> {
  await tx.query(postponeStatement, [seq, attempt, delayMs, shorten(reason)]);
}

export async function removeParked(tx: Tx, seq: bigint): Promise<void> {
  await tx.query(removeStatement, [seq]);
}

/** Counts the parked messages of the consumer; `age` is that of the oldest, in seconds. */
export async function parkedDepth(pool: Pool, consumer: string): Promise<{ depth: number; age: number }> {
  return (await pool.query<{ depth: number; age: number }>(depthStatement, [consumer])).rows[0] ?? { depth: 0, age: 0 };
}

/** PostgreSQL text holds no NUL, and an error may quote the message. */
const shorten = (reason: string): string => reason.replaceAll("\0", "").toWellFormed().slice(0, reasonLengthMax);
