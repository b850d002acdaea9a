import {
  advisoryLock,
  type ListRange,
  newestFirst,
  type Queryable,
  rangeValues,
  sql,
  type Tx,
  table,
} from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import type { Bookmark as Row } from "../generated/prisma/client.ts";
import type { Headers } from "../sources/request-headers.ts";

/** A received webhook that is kept under a name beyond the retention, as a fixture for tests; it goes with its source. */
export interface Bookmark extends Omit<Row, "headers" | "body"> {
  readonly bodyBytes: number;
}

/** A bookmark with the webhook itself: its headers, signatures and credentials masked, and its bytes. */
export interface StoredBookmark extends Bookmark {
  readonly headers: Headers;
  readonly body: Buffer;
}

const bookmarks = table("bookmarks", columns.bookmarks);
const shown = table("bookmarks", columns.bookmarks, ["headers", "body"]);
const listed = `${shown.columns}, octet_length(body) as "bodyBytes"`;
const list = sql("bookmark.list", `select ${listed} from bookmarks where account_id = $1 and ${newestFirst(2)}`);
const find = sql("bookmark.find", `select ${listed}, headers, body from bookmarks where account_id = $1 and name = $2`);
const lock = sql("bookmark.lock", `select ${listed} from bookmarks where account_id = $1 and name = $2 for update`);
const usage = sql(
  "bookmark.usage",
  `select count(*)::int as count, coalesce(sum(octet_length(body)), 0)::int as bytes, coalesce(bool_or(name = $2), false) as "isTaken"
   from bookmarks where account_id = $1`,
);
const remove = sql("bookmark.remove", "delete from bookmarks where id = $1");

export const listBookmarks = async (db: Queryable, accountId: string, range: ListRange) =>
  (await db.query<Bookmark>(list, [accountId, ...rangeValues(range)])).rows;

export const findBookmark = async (db: Queryable, accountId: string, name: string): Promise<StoredBookmark | null> =>
  (await db.query<StoredBookmark>(find, [accountId, name])).rows[0] ?? null;

export const lockBookmark = async (tx: Tx, accountId: string, name: string): Promise<Bookmark | null> =>
  (await tx.query<Bookmark>(lock, [accountId, name])).rows[0] ?? null;

/** Sums up the account's bookmarks, and blocks another insert until the transaction ends. `isTaken`: the name is. */
export async function lockBookmarkUsage(tx: Tx, accountId: string, name: string) {
  await advisoryLock(tx, `bookmarks:${accountId}`);
  const { rows } = await tx.query<{ count: number; bytes: number; isTaken: boolean }>(usage, [accountId, name]);
  return rows[0] ?? { count: 0, bytes: 0, isTaken: false };
}

export const insertBookmark = (tx: Tx, bookmark: StoredBookmark) => bookmarks.insert(tx, bookmark);

export const removeBookmark = (tx: Tx, id: string) => tx.query(remove, [id]);
