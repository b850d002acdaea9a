import { advisoryLock, advisoryLocks, type Pool, sql, type Tx } from "@signalbox/storage";
import type { ReceivedRecord } from "../log/event-log.ts";

/** A message that waits in the queue of its key. */
export interface ParkedMessage {
  readonly seq: bigint;
  readonly record: ReceivedRecord;
  /** Tries so far. */
  readonly attempt: number;
  readonly reason: string;
}

export interface ParkedRow {
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
/** Bound of the messages read at once; the first is read at any size. */
const batchBytesMax = 4 * 1024 * 1024;

/** Parks a message once, however often it is delivered. A message behind others of its key has no due time. */
const parkStatement = sql(
  "parked.park",
  `insert into signalbox.parked
     (consumer, key, topic, partition, "offset", timestamp_ms, headers, payload, attempt, next_at, reason)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9,
     case when signalbox.is_parked($1, $2) then 'infinity' else clock_timestamp() + $10 * interval '1 ms' end, $11)
   on conflict (consumer, topic, partition, "offset") do nothing`,
);
/** Parks many messages behind others of their keys, in order; skips keys that are no longer parked. */
const parkBehindStatement = sql(
  "parked.park-behind",
  `with queues as materialized (
     select key from (select distinct key from unnest($2::text[]) as given (key)) as keys where signalbox.is_parked($1, key)
   ), parked as (
     insert into signalbox.parked
       (consumer, key, topic, partition, "offset", timestamp_ms, headers, payload, attempt, next_at, reason)
     select $1, key, topic, partition, "offset", timestamp_ms, headers, payload, 0, 'infinity', $9
     from unnest($2::text[], $3::text[], $4::int[], $5::bigint[], $6::bigint[], $7::text[], $8::bytea[]) with ordinality
       as given (key, topic, partition, "offset", timestamp_ms, headers, payload, nth) join queues using (key)
     order by nth
     on conflict (consumer, topic, partition, "offset") do nothing
   )
   select key from queues`,
);
// Not prepared: a plan made while the table was empty would read all of it once it is full. The time is that of the
// statement, because an index cannot be searched for a moving one.
const dueStatement = sql(
  "",
  `select exists (
     select from signalbox.parked
     where consumer = $1 and next_at <= statement_timestamp() and next_at < 'infinity') as due`,
);
/** Locks the first message of a due key. */
const headStatement = sql(
  "",
  `select seq, key from signalbox.parked
   where consumer = $1 and next_at <= statement_timestamp() and next_at < 'infinity'
   order by next_at limit 1 for update skip locked`,
);
const queueStatement = sql(
  "",
  `select * from (
     select *, sum(coalesce(octet_length(payload), 0)) over (order by seq) as bytes from (
       select seq, key, topic, partition, "offset", timestamp_ms, headers, payload, attempt, reason
       from signalbox.parked where consumer = $1 and key = $2 and seq >= $3 order by seq limit $4) as front) as counted
   where seq = $3 or bytes <= $5 order by seq`,
);
const postponeStatement = sql(
  "parked.postpone",
  `update signalbox.parked set attempt = $2, next_at = clock_timestamp() + $3 * interval '1 ms', reason = $4
   where seq = $1`,
);
const removeStatement = sql("", "delete from signalbox.parked where seq = any($1)");
const promoteStatement = sql(
  "",
  `update signalbox.parked set next_at = clock_timestamp()
   where next_at = 'infinity' and seq = (
     select seq from signalbox.parked where consumer = $1 and key = $2 and seq > $3 order by seq limit 1)`,
);

export interface Parking {
  readonly attempt: number;
  readonly delayMs: number;
  readonly reason: string;
}

/** Appends a message to the queue of its key. */
export async function parkMessage(
  tx: Tx,
  consumer: string,
  record: ReceivedRecord,
  { attempt, delayMs, reason }: Parking,
): Promise<void> {
  const { key, topic, partition, offset, timestampMs, headers, value } = record;
  const values = [consumer, key, topic, partition, offset, timestampMs, JSON.stringify(headers), value];
  await lockQueue(tx, consumer, key);
  await tx.query(parkStatement, [...values, attempt, delayMs, shorten(reason)]);
}

const behindReason = "behind an earlier message of its key";

/** Parks a message behind the waiting ones of its key. */
export function parkBehindOne(tx: Tx, consumer: string, record: ReceivedRecord): Promise<void> {
  return parkMessage(tx, consumer, record, { attempt: 0, delayMs: 0, reason: behindReason });
}

/**
 * Parks many messages behind the waiting ones of their keys, in order. Returns the keys; a key whose queue was emptied
 * meanwhile is missing, and its messages must be handled.
 */
export async function parkBehind(
  tx: Tx,
  consumer: string,
  records: readonly ReceivedRecord[],
): Promise<ReadonlySet<string>> {
  await advisoryLocks(
    tx,
    records.map(({ key }) => queueName(consumer, key)),
  );
  const columns = [
    records.map(({ key }) => key),
    records.map(({ topic }) => topic),
    records.map(({ partition }) => partition),
    records.map(({ offset }) => offset),
    records.map(({ timestampMs }) => timestampMs),
    records.map(({ headers }) => JSON.stringify(headers)),
    records.map(({ value }) => value),
  ];
  const { rows } = await tx.query<{ key: string }>(parkBehindStatement, [consumer, ...columns, behindReason]);
  return new Set(rows.map(({ key }) => key));
}

/** Looks for a due message at little cost, because nearly always nothing is parked. */
export async function isAnyDue(pool: Pool, consumer: string): Promise<boolean> {
  return (await pool.query<{ due: boolean }>(dueStatement, [consumer])).rows[0]?.due === true;
}

/**
 * Locks the due queue against other instances and returns its first messages, at most `max`; none when no message is
 * due.
 */
export async function dueMessages(tx: Tx, consumer: string, max: number): Promise<ParkedMessage[]> {
  const [head] = (await tx.query<Pick<ParkedRow, "seq" | "key">>(headStatement, [consumer])).rows;
  if (!head) return [];
  const { rows } = await tx.query<ParkedRow>(queueStatement, [consumer, head.key, head.seq, max, batchBytesMax]);
  return rows.map(readMessage);
}

export function readMessage(row: ParkedRow): ParkedMessage {
  const { seq, attempt, reason, topic, partition, offset, key, payload } = row;
  const headers = JSON.parse(row.headers) as Record<string, string>;
  const timestampMs = Number(row.timestamp_ms);
  return { seq, attempt, reason, record: { topic, partition, offset, timestampMs, key, headers, value: payload } };
}

export async function postponeParked(tx: Tx, seq: bigint, { attempt, delayMs, reason }: Parking): Promise<void> {
  await tx.query(postponeStatement, [seq, attempt, delayMs, shorten(reason)]);
}

/** Removes the first messages of a queue; the next one becomes due. */
export async function removeParked(tx: Tx, consumer: string, messages: readonly ParkedMessage[]): Promise<void> {
  const last = messages.at(-1);
  if (!last) return;
  const { key } = last.record;
  await lockQueue(tx, consumer, key);
  await tx.query(removeStatement, [messages.map(({ seq }) => seq)]);
  await tx.query(promoteStatement, [consumer, key, last.seq]);
}

/**
 * Locks the queue of a key for moments: while a message joins it, and while the last one leaves. Otherwise a message
 * could join behind one that has just left, and wait without a due time for ever.
 */
function lockQueue(tx: Tx, consumer: string, key: string): Promise<void> {
  return advisoryLock(tx, queueName(consumer, key));
}

const queueName = (consumer: string, key: string) => `parked ${consumer} ${key}`;

/** PostgreSQL text holds no NUL, and an error may quote the message. */
const shorten = (reason: string): string => reason.replaceAll("\0", "").toWellFormed().slice(0, reasonLengthMax);
