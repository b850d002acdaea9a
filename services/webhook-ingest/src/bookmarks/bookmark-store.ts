import {
  advisoryLock,
  type ListRange,
  newestFirst,
  type Queryable,
  rangeValues,
  sql,
  type Tx,
} from "@signalbox/storage";
import type { Headers } from "../sources/request-headers.ts";

/** A received webhook that is kept under a name beyond the retention, as a fixture for tests; it goes with its source. */
export interface Bookmark {
  readonly id: string;
  readonly accountId: string;
  readonly sourceId: string;
  /** Unique in its account. */
  readonly name: string;
  readonly receivedId: string;
  readonly deliveryId: string;
  readonly eventType: string | null;
  readonly contentType: string | null;
  readonly bodyBytes: number;
  readonly receivedAt: Date;
  readonly createdAt: Date;
}

/** A bookmark with the webhook itself: its headers, signatures and credentials masked, and its bytes. */
export interface StoredBookmark extends Bookmark {
  readonly headers: Headers;
  readonly body: Buffer;
}

const listed = `id, account_id as "accountId", source_id as "sourceId", name, received_id as "receivedId",
  delivery_id as "deliveryId", event_type as "eventType", content_type as "contentType",
  octet_length(body) as "bodyBytes", received_at as "receivedAt", created_at as "createdAt"`;
const list = sql("bookmark.list", `select ${listed} from bookmarks where account_id = $1 and ${newestFirst(2)}`);
const find = sql("bookmark.find", `select ${listed}, headers, body from bookmarks where account_id = $1 and name = $2`);
const lock = sql("bookmark.lock", `select ${listed} from bookmarks where account_id = $1 and name = $2 for update`);
const usage = sql(
  "bookmark.usage",
  `select count(*)::int as count, coalesce(sum(octet_length(body)), 0)::int as bytes, coalesce(bool_or(name = $2), false) as "isTaken"
   from bookmarks where account_id = $1`,
);
const insert = sql(
  "bookmark.insert",
  `insert into bookmarks (
     id, account_id, source_id, name, received_id, delivery_id, event_type, content_type, headers, body, received_at, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb, $10, $11, $12)`,
);
const remove = sql("bookmark.remove", "delete from bookmarks where id = $1");

export const listBookmarks = async (db: Queryable, accountId: string, range: ListRange) =>
  (await db.query<Bookmark>(list, [accountId, ...rangeValues(range)])).rows;

export const findBookmark = async (db: Queryable, accountId: string, name: string): Promise<StoredBookmark | null> =>
  (await db.query<StoredBookmark>(find, [accountId, name])).rows[0] ?? null;

export const lockBookmark = async (tx: Tx, accountId: string, name: string): Promise<Bookmark | null> =>
  (await tx.query<Bookmark>(lock, [accountId, name])).rows[0] ?? null;

/**
 * Sums up the account's bookmarks and the bytes of their bodies, and blocks a concurrent insert until the transaction
 * ends. `isTaken`: one of them has the name.
 */
export async function lockBookmarkUsage(tx: Tx, accountId: string, name: string) {
  await advisoryLock(tx, `bookmarks:${accountId}`);
  const { rows } = await tx.query<{ count: number; bytes: number; isTaken: boolean }>(usage, [accountId, name]);
  return rows[0] ?? { count: 0, bytes: 0, isTaken: false };
}

export async function insertBookmark(tx: Tx, bookmark: StoredBookmark): Promise<void> {
  const { id, accountId, sourceId, name, receivedId, deliveryId, eventType, contentType, headers, body } = bookmark;
  const { receivedAt, createdAt } = bookmark;
  await tx.query(insert, [
    ...[id, accountId, sourceId, name, receivedId, deliveryId, eventType, contentType],
    ...[JSON.stringify(headers), body, receivedAt, createdAt],
  ]);
}

export const removeBookmark = (tx: Tx, id: string) => tx.query(remove, [id]);
