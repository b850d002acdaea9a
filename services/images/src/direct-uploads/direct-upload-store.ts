import { advisoryLock, type Pool, sql, type Tx, table } from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import type { DirectUpload } from "./direct-upload.ts";

export type DirectUploadStore = ReturnType<typeof createDirectUploadStore>;

const uploads = table("direct_uploads", columns.direct_uploads);
const saveUpload = uploads.update("filename", "state", "imageId", "sweepAt");
const select = `select ${uploads.columns} from direct_uploads`;
const findOwn = sql("direct-upload.find-own", `${select} where id = $1 and account_id = $2`);
const lockOwn = sql("direct-upload.lock-own", `${select} where id = $1 and account_id = $2 for update`);
const lockDue = sql(
  "direct-upload.lock-due",
  `${select} where sweep_at <= $1 order by sweep_at limit 1 for update skip locked`,
);
const sumOpen = sql(
  "direct-upload.sum-open",
  `select count(*)::int as uploads, coalesce(sum(size_bytes), 0)::float8 as bytes from direct_uploads
   where account_id = $1 and state = 'open' and expires_at > $2`,
);
const endAllOf = sql(
  "direct-upload.end-all-of",
  `update direct_uploads set state = 'cancelled', filename = '', image_id = null, sweep_at = $2 where account_id = $1`,
);
const removeUpload = sql("direct-upload.remove", "delete from direct_uploads where id = $1");

/** Announced files, until nothing can be sent any more. */
export function createDirectUploadStore(pool: Pool) {
  return {
    insert: (tx: Tx, upload: DirectUpload) => uploads.insert(tx, upload),

    async findOwn(accountId: string, uploadId: string): Promise<DirectUpload | null> {
      return (await pool.query<DirectUpload>(findOwn, [uploadId, accountId])).rows[0] ?? null;
    },

    /** Finds the upload and locks it until the transaction ends. */
    async lockOwn(tx: Tx, accountId: string, uploadId: string): Promise<DirectUpload | null> {
      return (await tx.query<DirectUpload>(lockOwn, [uploadId, accountId])).rows[0] ?? null;
    },

    /** Locks the upload whose bytes are overdue for removal the longest; other instances may work on the rest. */
    async lockDue(tx: Tx, now: Date): Promise<DirectUpload | null> {
      return (await tx.query<DirectUpload>(lockDue, [now])).rows[0] ?? null;
    },

    save: (tx: Tx, upload: DirectUpload) => saveUpload(tx, upload),

    /** Counts an account's open uploads and their announced bytes, and blocks new ones of the account meanwhile. */
    async lockUsage(
      tx: Tx,
      accountId: string,
      now: Date,
    ): Promise<{ readonly uploads: number; readonly bytes: number }> {
      await advisoryLock(tx, `direct uploads:${accountId}`);
      const { rows } = await tx.query<{ uploads: number; bytes: number }>(sumOpen, [accountId, now]);
      return rows[0] ?? { uploads: 0, bytes: 0 };
    },

    /** Ends every upload of a purged account. */
    endAllOf: async (tx: Tx, accountId: string, now: Date): Promise<void> =>
      void (await tx.query(endAllOf, [accountId, now])),

    remove: async (tx: Tx, { id }: DirectUpload): Promise<void> => void (await tx.query(removeUpload, [id])),
  };
}
