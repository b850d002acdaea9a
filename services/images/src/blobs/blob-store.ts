import { type Queryable, sql, type Tx } from "@signalbox/storage";
import type { OriginalId } from "./blob-keys.ts";

/** The recorded bytes of an original. */
export interface Blob extends OriginalId {
  readonly sizeBytes: number;
  readonly mimeType: string;
}

/** A locked blob. */
export interface LockedBlob {
  readonly touchedAt: Date;
  readonly sizeBytes: number;
  readonly isNeeded: boolean;
}

const needed = "exists (select 1 from images i where i.account_id = o.account_id and i.sha256 = o.sha256)";
const statements = {
  touch: sql(
    "blob.touch",
    `insert into originals (account_id, sha256, size_bytes, mime_type, touched_at) values ($1, $2, $3, $4, $5)
   on conflict (account_id, sha256) do update set touched_at = excluded.touched_at`,
  ),
  keep: sql("blob.keep", "select 1 from originals where account_id = $1 and sha256 = $2 for share"),
  releaseOf: sql("blob.release-of", "update originals set touched_at = 'epoch' where account_id = $1"),
  // Originals that wait for their erasure are left to the eraser, which writes the receipt.
  listUnused: sql(
    "blob.list-unused",
    `select account_id as "accountId", sha256 from originals o where touched_at < $1 and not ${needed}
     and not exists (select 1 from tombstones t
       where t.account_id = o.account_id and t.sha256 = o.sha256 and t.erased_at is null)
   order by touched_at limit $2`,
  ),
  lock: sql(
    "blob.lock",
    `select touched_at as "touchedAt", size_bytes as "sizeBytes", ${needed} as "isNeeded" from originals o
   where account_id = $1 and sha256 = $2 for update`,
  ),
  isNeeded: sql(
    "blob.find-needed",
    `select ${needed} as "isNeeded" from originals o where account_id = $1 and sha256 = $2`,
  ),
  remove: sql("blob.delete", "delete from originals where account_id = $1 and sha256 = $2"),
};

/**
 * Records that the bytes of an original are about to be stored or used. A blob is touched before its bytes are written,
 * and kept by the record's transaction: the sweep removes bytes under the row's lock, so it can never remove what a new
 * record is about to need.
 */
export async function touchBlob(db: Queryable, blob: Blob, now: Date): Promise<void> {
  const { accountId, sha256, sizeBytes, mimeType } = blob;
  await db.query(statements.touch, [accountId, sha256, sizeBytes, mimeType, now]);
}

/** Keeps the blob until the transaction ends; returns false when it no longer exists. */
export async function keepBlob(tx: Tx, { accountId, sha256 }: OriginalId): Promise<boolean> {
  return (await tx.query(statements.keep, [accountId, sha256])).rowCount > 0;
}

/** Ends the grace period of all blobs of an account. */
export const releaseBlobsOf = (tx: Tx, accountId: string) => tx.query(statements.releaseOf, [accountId]);

/** Lists blobs that no record has needed since `before`. */
export async function listUnusedBlobs(db: Queryable, before: Date, limit: number): Promise<OriginalId[]> {
  return (await db.query<OriginalId>(statements.listUnused, [before, limit])).rows;
}

/** Locks a blob against records that are about to need it; null when it no longer exists. */
export async function lockBlob(tx: Tx, { accountId, sha256 }: OriginalId): Promise<LockedBlob | null> {
  // Two statements: the first one waits for the lock, and its snapshot of the records is older than the lock.
  const { rows } = await tx.query<LockedBlob>(statements.lock, [accountId, sha256]);
  const { rows: judged } = await tx.query<{ readonly isNeeded: boolean }>(statements.isNeeded, [accountId, sha256]);
  return rows[0] && judged[0] ? { ...rows[0], ...judged[0] } : null;
}

export const removeBlob = (tx: Tx, { accountId, sha256 }: OriginalId) =>
  tx.query(statements.remove, [accountId, sha256]);
