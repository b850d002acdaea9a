import type { Caller } from "@signalbox/auth";
import { timeOfPublicId } from "@signalbox/core";
import {
  binaryColumnsOf,
  type ListRange,
  newestFirst,
  type Queryable,
  rangeValues,
  sql,
  type Tx,
} from "@signalbox/storage";
import { keyColumns, noteColumns, type PublishedId, publishedKey } from "./outgoing-event.ts";

/** An event with the bytes that its deliveries post. */
export interface StoredEvent {
  readonly id: string;
  readonly type: string;
  readonly body: Buffer;
  readonly createdAt: Date;
}

/** Reader of events. Copies of other accounts' events are only for administrators of all accounts. */
export interface EventReader {
  readonly accountId: string;
  readonly seesOthers: boolean;
}

export const readerOf = ({ accountId, scopes }: Caller): EventReader => ({
  accountId,
  seesOthers: scopes.has("account:admin"),
});

export interface EventFilter {
  /** A name, or a prefix that ends in `*`. */
  readonly type?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

const columns = `id, type, body, created_at as "createdAt"`;
const list = sql(
  "event.list",
  `select ${columns} from webhook_events
   where account_id = $1 and ($9 or about_account_id is null) and ($2::text is null or type = $2) and ($3::text is null or starts_with(type, $3))
     and created_at >= $4 and created_at <= $6 and created_at < $5 and ${newestFirst(6)}`,
);
const find = sql(
  "event.find",
  `select ${columns} from webhook_events
   where account_id = $1 and id = $2 and created_at between $3 and $4 and ($5 or about_account_id is null) order by created_at limit 1`,
);
const findPublished = sql(
  "event.find-published",
  `select created_at as at from published_events where account_id = $1 and id = $2`,
);
/** In one order, so that two transactions with the same ids do not wait for each other. */
const note = sql(
  "event.note-published",
  `insert into published_events (account_id, id, digest, created_at)
   select * from unnest($1::text[], $2::text[], $3::bytea[], $4::timestamptz[]) as given (account_id, id, digest, at)
   order by account_id, id
   on conflict do nothing returning account_id as "accountId", id`,
);
const knownPublished = sql(
  "event.known-published",
  `select account_id as "accountId", id, digest
   from unnest($1::text[], $2::text[]) as given (account_id, id) join published_events using (account_id, id)`,
);
const forget = sql(
  "event.forget-published",
  `delete from published_events as p using unnest($1::text[], $2::text[]) as given (account_id, id)
   where p.account_id = given.account_id and p.id = given.id`,
);

export const beginning = new Date(0);
export const endOfTime = new Date("9999-12-31T00:00:00.000Z");
/** An id may be made a moment before or after the time of its event, by the clock of another instance. */
const idSkewMs = 3_600_000;

/** Splits a type into the name, or the prefix, that it stands for. */
export const namesOf = (type: string | undefined): readonly [name: string | null, prefix: string | null] =>
  type?.endsWith("*") ? [null, type.slice(0, -1)] : [type ?? null, null];

export async function listEvents(
  db: Queryable,
  { accountId, seesOthers }: EventReader,
  { type, from = beginning, to = endOfTime }: EventFilter,
  range: ListRange,
): Promise<StoredEvent[]> {
  const values = [accountId, ...namesOf(type), from, to, ...rangeValues(range), seesOthers];
  return (await db.query<StoredEvent>(list, values)).rows;
}

/** Returns the time of the event that has an id of its publisher's own; null for any other id. */
export const publishedMs = async (db: Queryable, accountId: string, id: string): Promise<number | null> =>
  (await db.query<{ at: Date }>(findPublished, [accountId, id])).rows[0]?.at.getTime() ?? null;

export async function findEvent(db: Queryable, { accountId, seesOthers }: EventReader, id: string) {
  const published = await publishedMs(db, accountId, id);
  const around = published ?? timeIn(id);
  if (around === null) return null;
  const skewMs = published === null ? idSkewMs : 0;
  const values = [accountId, id, new Date(around - skewMs), new Date(around + skewMs), seesOthers];
  return (await db.query<StoredEvent>(find, values)).rows[0] ?? null;
}

/** Records chosen ids; returns the keys of the new ones. Another publication of the same id waits. */
export async function notePublished(tx: Tx, ids: readonly PublishedId[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await tx.query<PublishedId>(note, binaryColumnsOf(ids, noteColumns));
  return new Set(rows.map(publishedKey));
}

export async function digestsOf(tx: Tx, ids: readonly PublishedId[]): Promise<Map<string, Buffer>> {
  if (ids.length === 0) return new Map();
  const { rows } = await tx.query<PublishedId>(knownPublished, binaryColumnsOf(ids, keyColumns));
  return new Map(rows.map((row) => [publishedKey(row), row.digest]));
}

export async function forgetPublished(tx: Tx, ids: readonly PublishedId[]): Promise<void> {
  if (ids.length > 0) await tx.query(forget, binaryColumnsOf(ids, keyColumns));
}

/** Returns the time in a UUIDv7 or in one of our ids; null for any other id. */
export function timeIn(id: string): number | null {
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/.test(id)) return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  return id.startsWith("evt_") ? timeOfPublicId(id) : null;
}
