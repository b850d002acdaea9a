import { type Pool, sql, type Tx } from "@signalbox/storage";

/** An original's bytes, as they are recorded. */
export interface Blob {
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly mimeType: string;
}

export type BlobStore = ReturnType<typeof createBlobStore>;

const touchBlob = sql(
  "blob.touch",
  `insert into blobs (sha256, size_bytes, mime_type, touched_at) values ($1, $2, $3, $4)
   on conflict (sha256) do update set touched_at = excluded.touched_at`,
);
const keepBlob = sql("blob.keep", "select 1 from blobs where sha256 = $1 for share");
const releaseBlobs = sql("blob.release", "update blobs set touched_at = $2 where sha256 = any($1)");
const listUnused = sql(
  "blob.list-unused",
  `select sha256 from blobs b where touched_at < $1 and not exists (select 1 from images i where i.sha256 = b.sha256)
   order by touched_at limit $2`,
);
const lockUnused = sql(
  "blob.lock-unused",
  `select sha256 from blobs b where sha256 = $1 and touched_at < $2
     and not exists (select 1 from images i where i.sha256 = b.sha256)
   for update`,
);
const deleteBlob = sql("blob.delete", "delete from blobs where sha256 = $1");

/**
 * The originals that are stored. A blob is touched before its bytes are written, and kept by the record's transaction: the
 * sweep, which removes bytes under the row's lock, can then never take what a new record is about to need.
 */
export function createBlobStore(pool: Pool) {
  return {
    /** Announces that the bytes are about to be stored or used. */
    touch: async ({ sha256, sizeBytes, mimeType }: Blob, now: Date): Promise<void> =>
      void (await pool.query(touchBlob, [sha256, sizeBytes, mimeType, now])),
    /** Keeps the blob until the transaction ends; false when it is gone. */
    keep: async (tx: Tx, sha256: string): Promise<boolean> => (await tx.query(keepBlob, [sha256])).rowCount > 0,
    /** Starts the grace of blobs that lost a record. */
    release: async (tx: Tx, sha256s: readonly string[], now: Date): Promise<void> =>
      void (await tx.query(releaseBlobs, [sha256s, now])),
    /** Lists blobs that no record has needed since `before`. */
    listUnused: async (before: Date, limit: number): Promise<string[]> =>
      (await pool.query<{ sha256: string }>(listUnused, [before, limit])).rows.map(({ sha256 }) => sha256),
    /** Locks a blob; false when it is gone or a record needs it again. */
    lockUnused: async (tx: Tx, sha256: string, before: Date): Promise<boolean> =>
      (await tx.query(lockUnused, [sha256, before])).rowCount > 0,
    remove: async (tx: Tx, sha256: string): Promise<void> => void (await tx.query(deleteBlob, [sha256])),
  };
}
