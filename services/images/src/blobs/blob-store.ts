import { type Pool, type Queryable, sql, type Tx } from "@signalbox/storage";

interface Blob {
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly mimeType: string;
}

const touchBlob = sql(
  "blob.touch",
  `insert into blobs (sha256, size_bytes, mime_type, touched_at) values ($1, $2, $3, $4)
   on conflict (sha256) do update set touched_at = excluded.touched_at`,
);
const keepBlob = sql("blob.keep", "select 1 from blobs where sha256 = $1 for share");
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
const touchAll = sql("blob.touch-existing", "update blobs set touched_at = $2 where sha256 = any($1)");

/**
 * Which originals are stored. A blob is touched before its bytes are written, and kept by the record's transaction: the
 * sweep, which removes bytes under the row's lock, can then never take what a new record is about to need.
 */
export function createBlobStore(pool: Pool) {
  const touch = (queryable: Queryable, { sha256, sizeBytes, mimeType }: Blob, now: Date) =>
    queryable.query(touchBlob, [sha256, sizeBytes, mimeType, now]);

  return {
    /** Announces that the bytes are about to be stored or used. */
    touch: async (blob: Blob, now: Date): Promise<void> => void (await touch(pool, blob, now)),
    /** Whether the blob is still there; then it stays until the transaction ends. */
    keep: async (tx: Tx, sha256: string): Promise<boolean> => (await tx.query(keepBlob, [sha256])).rowCount > 0,
    /** Starts the grace of blobs that lost a record. */
    released: async (tx: Tx, sha256s: readonly string[], now: Date): Promise<void> =>
      void (await tx.query(touchAll, [sha256s, now])),
    /** Blobs that no record has needed since `before`. */
    listUnused: async (before: Date, limit: number): Promise<string[]> =>
      (await pool.query<{ sha256: string }>(listUnused, [before, limit])).rows.map(({ sha256 }) => sha256),
    lockUnused: async (tx: Tx, sha256: string, before: Date): Promise<boolean> =>
      (await tx.query(lockUnused, [sha256, before])).rowCount > 0,
    delete: async (tx: Tx, sha256: string): Promise<void> => void (await tx.query(deleteBlob, [sha256])),
  };
}

export type BlobStore = ReturnType<typeof createBlobStore>;
