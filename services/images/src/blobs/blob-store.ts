import { type Pool, sql, type Tx } from "@signalbox/storage";
import type { OriginalId } from "./blob-keys.ts";

/** The recorded bytes of an original. */
export interface Blob extends OriginalId {
  readonly sizeBytes: number;
  readonly mimeType: string;
}

export type BlobStore = ReturnType<typeof createBlobStore>;

const touchBlob = sql(
  "blob.touch",
  `insert into originals (account_id, sha256, size_bytes, mime_type, touched_at) values ($1, $2, $3, $4, $5)
   on conflict (account_id, sha256) do update set touched_at = excluded.touched_at`,
);
const keepBlob = sql("blob.keep", "select 1 from originals where account_id = $1 and sha256 = $2 for share");
const releaseOf = sql("blob.release-of", "update originals set touched_at = 'epoch' where account_id = $1");
const needed = "exists (select 1 from images i where i.account_id = o.account_id and i.sha256 = o.sha256)";
// Originals that wait for their erasure are left to the eraser, which writes the receipt.
const listUnused = sql(
  "blob.list-unused",
  `select account_id as "accountId", sha256 from originals o where touched_at < $1 and not ${needed}
     and not exists (select 1 from tombstones t
       where t.account_id = o.account_id and t.sha256 = o.sha256 and t.erased_at is null)
   order by touched_at limit $2`,
);
const lockBlob = sql(
  "blob.lock",
  `select touched_at as "touchedAt", size_bytes as "sizeBytes", ${needed} as "isNeeded" from originals o
   where account_id = $1 and sha256 = $2 for update`,
);
const findNeeded = sql(
  "blob.find-needed",
  `select ${needed} as "isNeeded" from originals o where account_id = $1 and sha256 = $2`,
);
const deleteBlob = sql("blob.delete", "delete from originals where account_id = $1 and sha256 = $2");

/** A locked blob. */
export interface LockedBlob {
  readonly touchedAt: Date;
  readonly sizeBytes: number;
  readonly isNeeded: boolean;
}

/**
 * The stored originals. A blob is touched before its bytes are written, and kept by the record's transaction: the sweep
 * removes bytes under the row's lock, so it can never remove what a new record is about to need.
 */
export function createBlobStore(pool: Pool) {
  return {
    /** Records that the bytes are about to be stored or used. */
    touch: async ({ accountId, sha256, sizeBytes, mimeType }: Blob, now: Date): Promise<void> =>
      void (await pool.query(touchBlob, [accountId, sha256, sizeBytes, mimeType, now])),
    /** Keeps the blob until the transaction ends; returns false when it no longer exists. */
    keep: async (tx: Tx, { accountId, sha256 }: OriginalId): Promise<boolean> =>
      (await tx.query(keepBlob, [accountId, sha256])).rowCount > 0,
    /** Ends the grace period of all blobs of an account. */
    releaseOf: async (tx: Tx, accountId: string): Promise<void> => void (await tx.query(releaseOf, [accountId])),
    /** Lists blobs that no record has needed since `before`. */
    listUnused: async (before: Date, limit: number): Promise<OriginalId[]> =>
      (await pool.query<OriginalId>(listUnused, [before, limit])).rows,
    /** Locks a blob against records that are about to need it; null when it no longer exists. */
    async lock(tx: Tx, { accountId, sha256 }: OriginalId): Promise<LockedBlob | null> {
      // Two statements: the first one waits for the lock, and its snapshot of the records is older than the lock.
      const { rows } = await tx.query<LockedBlob>(lockBlob, [accountId, sha256]);
      const { rows: judged } = await tx.query<Pick<LockedBlob, "isNeeded">>(findNeeded, [accountId, sha256]);
      return rows[0] && judged[0] ? { ...rows[0], ...judged[0] } : null;
    },
    remove: async (tx: Tx, { accountId, sha256 }: OriginalId): Promise<void> =>
      void (await tx.query(deleteBlob, [accountId, sha256])),
  };
}
