import { advisoryLock, type Queryable, type Statement, sql, type Tx, table } from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import type { DirectUpload } from "../state/direct-upload.ts";

const uploads = table("direct_uploads", columns.direct_uploads);
const saveUpload = uploads.update("filename", "metadata", "state", "imageId", "sweepAt");
const select = `select ${uploads.columns} from direct_uploads`;
const statements = {
  findOwn: sql("direct-upload.find-own", `${select} where id = $1 and account_id = $2`),
  lockOwn: sql("direct-upload.lock-own", `${select} where id = $1 and account_id = $2 for update`),
  lockDue: sql(
    "direct-upload.lock-due",
    `${select} where sweep_at <= $1 order by sweep_at limit 1 for update skip locked`,
  ),
  sumOpen: sql(
    "direct-upload.sum-open",
    `select count(*)::int as uploads, coalesce(sum(size_bytes), 0)::float8 as bytes from direct_uploads
   where account_id = $1 and state = 'open' and expires_at > $2`,
  ),
  endAllOf: sql(
    "direct-upload.end-all-of",
    `update direct_uploads set state = 'cancelled', filename = '', metadata = left(metadata, 0),
     image_id = null, sweep_at = $2 where account_id = $1`,
  ),
  remove: sql("direct-upload.remove", "delete from direct_uploads where id = $1"),
};

export const insertDirectUpload = (tx: Tx, upload: DirectUpload) => uploads.insert(tx, upload);

export const findOwnDirectUpload = (db: Queryable, accountId: string, uploadId: string) =>
  first(db, statements.findOwn, [uploadId, accountId]);

/** Finds the upload and locks it until the transaction ends. */
export const lockOwnDirectUpload = (tx: Tx, accountId: string, uploadId: string) =>
  first(tx, statements.lockOwn, [uploadId, accountId]);

/** Locks the upload whose bytes are overdue for removal the longest; other instances may work on the rest. */
export const lockDueDirectUpload = (tx: Tx, now: Date) => first(tx, statements.lockDue, [now]);

export const saveDirectUpload = (tx: Tx, upload: DirectUpload) => saveUpload(tx, upload);

/** Counts an account's open uploads and their announced bytes, and blocks new ones of the account meanwhile. */
export async function lockOpenUploads(tx: Tx, accountId: string, now: Date) {
  await advisoryLock(tx, `direct uploads:${accountId}`);
  const { rows } = await tx.query<{ uploads: number; bytes: number }>(statements.sumOpen, [accountId, now]);
  return rows[0] ?? { uploads: 0, bytes: 0 };
}

/** Ends every upload of a purged account. */
export const cancelDirectUploadsOf = (tx: Tx, accountId: string, now: Date) =>
  tx.query(statements.endAllOf, [accountId, now]);

export const removeDirectUpload = (tx: Tx, { id }: DirectUpload) => tx.query(statements.remove, [id]);

async function first(db: Queryable, statement: Statement, values: readonly unknown[]): Promise<DirectUpload | null> {
  return (await db.query<DirectUpload>(statement, values)).rows[0] ?? null;
}
