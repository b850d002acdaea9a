import type { RenditionResult } from "@signalbox/contracts";
import { type Pool, type Queryable, sql, type Tx } from "@signalbox/storage";

const saveStored = sql(
  "rendition.save-stored",
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

type StoredRendition = Pick<RenditionResult, "key" | "mime_type" | "width" | "height" | "size_bytes">;

/** Renditions that are stored, and those that the worker was asked for. */
export function createRenditionStore(pool: Pool) {
  return {
    isStored: async (key: string): Promise<boolean> => (await pool.query(findStored, [key])).rowCount > 0,

    /** Notes a stored rendition; nothing when its original is already swept. */
    async save(db: Queryable, sha256: string, stored: StoredRendition, now: Date): Promise<void> {
      const { key, mime_type, width, height, size_bytes } = stored;
      await db.query(saveStored, [key, sha256, mime_type, width, height, size_bytes, now]);
    },

    /** Claims the request of a rendition; false when somebody has asked since `staleBefore`, or when it is stored. */
    async claimRequest(
      tx: Tx,
      { key, sha256, now, staleBefore }: { key: string; sha256: string; now: Date; staleBefore: Date },
    ): Promise<boolean> {
      return (await tx.query(claimRequest, [key, sha256, now, staleBefore])).rowCount > 0;
    },
  };
}

export type RenditionStore = ReturnType<typeof createRenditionStore>;
