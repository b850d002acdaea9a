import type { RenditionResult } from "@signalbox/contracts";
import { minutes } from "@signalbox/core";
import type { OnDemandRendition } from "@signalbox/imaging";
import { freshBatch } from "@signalbox/service";
import { type Queryable, sql, type Tx } from "@signalbox/storage";
import { renderedEntry } from "../statistics/image-statistics.ts";
import type { OriginalId } from "./blob-keys.ts";

/** A key that crashed two processes is not tried again for an hour. */
const attemptsMax = 2;
const refusedMs = minutes(60);

const refused = (since: string) => `attempts >= ${attemptsMax} and attempted_at > ${since}`;
const refusedSince = (now: Date) => new Date(now.getTime() - refusedMs);

/** A rendition that was just stored: `name` is null unless it is a named variant. */
type NewRendition = Omit<RenditionResult, "sha256">;

interface RenditionClaim {
  readonly key: string;
  readonly of: OriginalId;
  readonly jobId: string;
  readonly now: Date;
  readonly staleBefore: Date;
}

interface StoredSize {
  readonly key: string;
  readonly sizeBytes: number;
}

const statements = {
  // A rendition counts in the statistics when it was not stored before: answers come again, and two may make the same.
  save: sql(
    "rendition.save-stored",
    `with saved as (
     insert into renditions
       (key, account_id, sha256, mime_type, width, height, size_bytes, named, requested_at, stored_at, seen_at)
     select $1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $9
       from originals where account_id = $2 and sha256 = $3 for share
     on conflict (key) do update set mime_type = excluded.mime_type, width = excluded.width, height = excluded.height,
       size_bytes = excluded.size_bytes, named = renditions.named or excluded.named, stored_at = excluded.stored_at,
       seen_at = excluded.seen_at, attempts = 0
     returning old.stored_at is null as is_new
   ), figures as (
     insert into signalbox.fresh_statistics (batch) select $10 from saved where is_new
   )
   select 1 from saved`,
  ),
  claimRequest: sql(
    "rendition.claim-request",
    `insert into renditions (key, account_id, sha256, job_id, requested_at) values ($1, $2, $3, $4, $5)
   on conflict (key) do update set requested_at = excluded.requested_at, job_id = excluded.job_id
     where renditions.stored_at is null and renditions.requested_at < $6`,
  ),
  isStored: sql("rendition.find-stored", "select 1 from renditions where key = $1 and stored_at is not null"),
  isRefused: sql("rendition.find-refused", `select 1 from renditions where key = $1 and ${refused("$2")}`),
  // An attempt's row has no request time, so that the worker can still be asked.
  beginAttempt: sql(
    "rendition.begin-attempt",
    `insert into renditions (key, account_id, sha256, requested_at, attempts, attempted_at)
   select $1, $2, $3, 'epoch', 1, $4 from originals where account_id = $2 and sha256 = $3
   on conflict (key) do update set attempted_at = excluded.attempted_at,
     attempts = case when renditions.attempted_at > $5 then renditions.attempts + 1 else 1 end
     where not (renditions.attempts >= ${attemptsMax} and renditions.attempted_at > $5)
   returning attempts`,
  ),
  endAttempt: sql(
    "rendition.end-attempt",
    "update renditions set attempts = greatest(attempts - 1, 0) where key = $1 and stored_at is null",
  ),
  refuseJob: sql(
    "rendition.refuse-job",
    `update renditions set attempts = ${attemptsMax}, attempted_at = $2 where job_id = $1 and stored_at is null`,
  ),
  forgive: sql(
    "rendition.forgive",
    "update renditions set attempts = 0, requested_at = 'epoch' where account_id = $1 and sha256 = $2 and stored_at is null",
  ),
  markSeen: sql("rendition.mark-seen", "update renditions set seen_at = $2 where key = $1"),
  listOnDemand: sql(
    "rendition.list-on-demand",
    `select key, size_bytes as "sizeBytes", seen_at as "seenAt" from renditions
   where account_id = $1 and sha256 = $2 and not named and stored_at is not null`,
  ),
  listStored: sql(
    "rendition.list-stored",
    `select key, size_bytes as "sizeBytes" from renditions where account_id = $1 and sha256 = $2 and stored_at is not null`,
  ),
  removeOf: sql("rendition.remove-of", "delete from renditions where account_id = $1 and sha256 = $2"),
  removeMany: sql("rendition.remove-many", "delete from renditions where key = any($1)"),
};

/** Records a stored rendition; false when its original is gone and the rendition must be removed too. */
export async function saveRendition(db: Queryable, of: OriginalId, stored: NewRendition, now: Date): Promise<boolean> {
  const { name, key, mime_type, width, height, size_bytes } = stored;
  const batch = freshBatch([renderedEntry(of.accountId, mime_type, now)]);
  const values = [key, of.accountId, of.sha256, mime_type, width, height, size_bytes, name !== null, now, batch];
  return (await db.query(statements.save, values)).rowCount > 0;
}

export async function isRenditionStored(db: Queryable, key: string): Promise<boolean> {
  return (await db.query(statements.isStored, [key])).rowCount > 0;
}

/** Returns true when the rendition crashed two processes within the last hour. */
export async function isRenditionRefused(db: Queryable, key: string, now: Date): Promise<boolean> {
  return (await db.query(statements.isRefused, [key, refusedSince(now)])).rowCount > 0;
}

/** Claims the request of a rendition; false when it was requested since `staleBefore`, or when it is stored. */
export async function claimRenditionRequest(tx: Tx, claim: RenditionClaim): Promise<boolean> {
  const { key, of, jobId, now, staleBefore } = claim;
  const values = [key, of.accountId, of.sha256, jobId, now, staleBefore];
  return (await tx.query(statements.claimRequest, values)).rowCount > 0;
}

/**
 * Records an attempt before it starts, because a process that it crashes cannot record it afterwards. Returns the number
 * of attempts since the last success, or null when no attempt is allowed yet.
 */
export async function beginAttempt(db: Queryable, key: string, of: OriginalId, now: Date): Promise<number | null> {
  const values = [key, of.accountId, of.sha256, now, refusedSince(now)];
  const { rows } = await db.query<{ attempts: number }>(statements.beginAttempt, values);
  return rows[0]?.attempts ?? null;
}

/** Removes an attempt that crashed no process. */
export const endAttempt = (db: Queryable, key: string) => db.query(statements.endAttempt, [key]);

/** Records that the worker failed to render this job. */
export const refuseRenditionJob = (tx: Tx, jobId: string, now: Date) => tx.query(statements.refuseJob, [jobId, now]);

/** Forgets the crashes of an original's renditions. */
export const forgiveRenditions = (tx: Tx, { accountId, sha256 }: OriginalId) =>
  tx.query(statements.forgive, [accountId, sha256]);

/** Records the last use of a rendition. */
export const markRenditionSeen = (db: Queryable, key: string, now: Date) => db.query(statements.markSeen, [key, now]);

export async function listRenditionsOnDemand(db: Queryable, { accountId, sha256 }: OriginalId) {
  return (await db.query<OnDemandRendition>(statements.listOnDemand, [accountId, sha256])).rows;
}

/** Lists every stored rendition of an original. */
export async function listStoredRenditions(tx: Tx, { accountId, sha256 }: OriginalId): Promise<StoredSize[]> {
  return (await tx.query<StoredSize>(statements.listStored, [accountId, sha256])).rows;
}

export const removeRenditionsOf = (tx: Tx, { accountId, sha256 }: OriginalId) =>
  tx.query(statements.removeOf, [accountId, sha256]);

export const removeRenditions = (db: Queryable, keys: readonly string[]) => db.query(statements.removeMany, [keys]);
