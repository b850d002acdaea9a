import type { RenditionResult } from "@signalbox/contracts";
import { type Pool, type Queryable, sql, type Tx } from "@signalbox/storage";

const markStored = sql(
  "rendition.mark-stored",
  `insert into renditions (key, sha256, mime_type, width, height, size_bytes, requested_at, stored_at)
   select $1, $2, $3, $4, $5, $6, $7, $7 where exists (select 1 from blobs where sha256 = $2)
   on conflict (key) do update set mime_type = excluded.mime_type, width = excluded.width, height = excluded.height,
     size_bytes = excluded.size_bytes, stored_at = excluded.stored_at`,
);
const claimRequest = sql(
  "rendition.claim-request",
  `insert into renditions (key, sha256, requested_at) values ($1, $2, $3)
   on conflict (key) do update set requested_at = excluded.requested_at
     where renditions.stored_at is null and renditions.requested_at < $4`,
);
const findStored = sql("rendition.find-stored", "select 1 from renditions where key = $1 and stored_at is not null");

export type StoredRendition = Pick<RenditionResult, "key" | "mime_type" | "width" | "height" | "size_bytes">;

/** Which renditions are stored, and which the worker was asked for. */
export function createRenditionStore(pool: Pool) {
  return {
    isStored: async (key: string): Promise<boolean> => (await pool.query(findStored, [key])).rowCount > 0,
    /** Notes a stored rendition; nothing when its original is already swept. */
    markStored: (tx: Tx, sha256: string, stored: StoredRendition, now: Date) => note(tx, sha256, stored, now),
    /** The same outside a transaction. */
    noteStored: (sha256: string, stored: StoredRendition, now: Date) => note(pool, sha256, stored, now),
    /** Whether this caller is the one to ask the worker: nobody has since `staleBefore`, and it is not stored. */
    async claimRequest(
      tx: Tx,
      wanted: { key: string; sha256: string; now: Date; staleBefore: Date },
    ): Promise<boolean> {
      return (await tx.query(claimRequest, [wanted.key, wanted.sha256, wanted.now, wanted.staleBefore])).rowCount > 0;
    },
  };
}

async function note(to: Queryable, sha256: string, stored: StoredRendition, now: Date): Promise<void> {
  const { key, mime_type, width, height, size_bytes } = stored;
  await to.query(markStored, [key, sha256, mime_type, width, height, size_bytes, now]);
}

export type RenditionStore = ReturnType<typeof createRenditionStore>;
