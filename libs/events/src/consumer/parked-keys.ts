import { type Pool, type Queryable, sql, type Tx } from "@signalbox/storage";
import type { ListStart } from "../outbox/dead-events.ts";
import { type ParkedMessage, type ParkedRow, readMessage, removeParked } from "./parked-messages.ts";

/** A key whose first message failed, with the queue behind it, as an operator sees it. */
export interface ParkedKey {
  readonly consumer: string;
  readonly key: string;
  /** The message that is tried next. */
  readonly head: ParkedMessage;
  readonly parkedAt: Date;
  readonly nextAt: Date;
  /** The number of messages with the first; a longer queue counts as this many. */
  readonly messages: number;
}

/** A queue is counted up to here: longer ones would make a list slow. */
const countedMax = 10_000;

interface HeadRow extends ParkedRow {
  readonly consumer: string;
  readonly parked_at: Date;
  readonly next_at: Date;
  readonly messages: number;
}

/** Compared by code points, as the joined lists of several services are. */
const idOf = `(consumer || ':' || key) collate "C"`;
const columns = `seq, consumer, key, topic, partition, "offset", timestamp_ms, headers, payload, attempt, reason,
     parked_at, next_at, (select count(*)::int from (select from signalbox.parked as behind
       where behind.consumer = parked.consumer and behind.key = parked.key limit ${countedMax}) as counted) as messages`;
const isHead = "next_at < 'infinity'";
const listStatement = sql(
  "parked.list-keys",
  `select ${columns} from signalbox.parked
   where consumer = any ($1) and ${isHead}
     and ($2::timestamptz is null or (date_trunc('milliseconds', parked_at), ${idOf}) > ($2, $3))
   order by date_trunc('milliseconds', parked_at), ${idOf} limit $4`,
);
const findStatement = sql(
  "parked.find-key",
  `select ${columns} from signalbox.parked where consumer = $1 and key = $2 and ${isHead} order by seq limit 1`,
);
const queueStatement = sql(
  "parked.list-queue",
  `select seq, parked_at, topic, partition, "offset", headers, attempt, coalesce(octet_length(payload), 0) as bytes
   from signalbox.parked where consumer = $1 and key = $2 and seq > $3 order by seq limit $4`,
);
const lockStatement = sql("parked.lock-key", "select from signalbox.parked where seq = $1 for update skip locked");
const retryStatement = sql(
  "parked.retry-key",
  "update signalbox.parked set next_at = clock_timestamp() where seq = $1",
);
const depthStatement = sql(
  "parked.depth",
  `select count(*)::int as depth,
     coalesce(extract(epoch from clock_timestamp() - min(parked_at))::float8, 0) as age
   from signalbox.parked where consumer = $1`,
);

/** Lists parked keys of the consumers, those that wait longest first. */
export async function list(
  db: Queryable,
  consumers: readonly string[],
  { after, limit }: ListStart,
): Promise<ParkedKey[]> {
  const { rows } = await db.query<HeadRow>(listStatement, [consumers, after?.at ?? null, after?.id ?? "", limit]);
  return rows.map(toParkedKey);
}

export async function find(db: Queryable, consumer: string, key: string): Promise<ParkedKey | null> {
  const row = (await db.query<HeadRow>(findStatement, [consumer, key])).rows[0];
  return row ? toParkedKey(row) : null;
}

/** A message in the queue of a key, with the size of its body in place of the body. */
export interface QueuedMessage {
  readonly seq: bigint;
  readonly parkedAt: Date;
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly headers: Readonly<Record<string, string>>;
  readonly attempt: number;
  readonly bytes: number;
}

interface QueuedRow extends Omit<QueuedMessage, "parkedAt" | "headers"> {
  readonly parked_at: Date;
  readonly headers: string;
}

/** Lists messages of a parked key in the order in which they are handled, from the first one or after a place. */
export async function listMessages(
  db: Queryable,
  { consumer, key }: Pick<ParkedKey, "consumer" | "key">,
  { after, limit }: { readonly after: bigint | null; readonly limit: number },
): Promise<QueuedMessage[]> {
  const { rows } = await db.query<QueuedRow>(queueStatement, [consumer, key, after ?? 0n, limit]);
  return rows.map(({ parked_at: parkedAt, headers, ...row }) => ({ ...row, parkedAt, headers: JSON.parse(headers) }));
}

/** An event that a consumer has parked. */
export interface ParkedEvent {
  readonly consumer: string;
  readonly attempt: number;
  readonly parkedAt: Date;
  /** Null behind an earlier message of its key. */
  readonly nextAt: Date | null;
}

/** Newest parked messages among which an event is looked for: headers have no index. */
const lookedThroughMax = 50_000;
const eventStatement = sql(
  "parked.find-event",
  `select consumer, attempt, parked_at as "parkedAt", nullif(next_at, 'infinity') as "nextAt"
   from (select * from signalbox.parked order by seq desc limit ${lookedThroughMax}) as newest
   where strpos(headers, $1) > 0 and strpos(headers, $2) > 0 order by seq limit 20`,
);

/** Finds the consumers that have parked an event of an account. */
export async function findEvent(db: Queryable, accountId: string, eventId: string): Promise<ParkedEvent[]> {
  // As JSON.stringify wrote them: a quote inside a value is escaped.
  const members = [`"ce_id":${JSON.stringify(eventId)}`, `"ce_accountid":${JSON.stringify(accountId)}`];
  return (await db.query<ParkedEvent>(eventStatement, members)).rows;
}

/** Counts the parked messages of the consumer; `age` is that of the oldest, in seconds. */
export async function depth(pool: Pool, consumer: string): Promise<{ depth: number; age: number }> {
  return (await pool.query<{ depth: number; age: number }>(depthStatement, [consumer])).rows[0] ?? { depth: 0, age: 0 };
}

/** Locks the first message of the key; returns false while it is being tried. */
export async function lock(tx: Tx, { head }: ParkedKey): Promise<boolean> {
  return (await tx.query(lockStatement, [head.seq])).rowCount > 0;
}

/** Makes the first message of the key due now. */
export async function retry(tx: Tx, { head }: ParkedKey): Promise<void> {
  await tx.query(retryStatement, [head.seq]);
}

/** Removes the first message of the key; the next one becomes due. */
export function skip(tx: Tx, { consumer, head }: ParkedKey): Promise<void> {
  return removeParked(tx, consumer, [head]);
}

const toParkedKey = ({ consumer, parked_at, next_at, messages, ...row }: HeadRow): ParkedKey => ({
  consumer,
  key: row.key,
  head: readMessage(row),
  parkedAt: parked_at,
  nextAt: next_at,
  messages,
});
