import { type Queryable, sql, type Tx, table } from "@signalbox/storage";
import type { OriginalId } from "../blobs/blob-keys.ts";
import type { Erased } from "../blobs/blobs.ts";
import { columns } from "../generated/columns.ts";

/** A deleted image: its owner, and the fate of its bytes. */
export interface Deletion extends OriginalId {
  readonly imageId: string;
  /** Account and credential of the deletion. */
  readonly deletedBy: string | null;
  readonly deletedAt: Date;
  /** Time at which the last byte was erased, with the erased sizes; null until then. */
  readonly erasedAt: Date | null;
  readonly erasedBytes: bigint | null;
  readonly erasedObjects: number | null;
  /** True when another record of the account needs the same bytes and they were kept. */
  readonly isOriginalKept: boolean | null;
}

const tombstones = table("tombstones", columns.tombstones);
const select = `select ${tombstones.columns} from tombstones`;
const statements = {
  find: sql("deletion.find", `${select} where image_id = $1`),
  lockNext: sql(
    "deletion.lock-next",
    `${select} where erased_at is null order by deleted_at limit 1 for update skip locked`,
  ),
  saveErased: sql(
    "deletion.save-erased",
    `update tombstones set erased_at = $2, erased_bytes = $3, erased_objects = $4, is_original_kept = $5
   where image_id = $1`,
  ),
  removeOf: sql("deletion.remove-of", "delete from tombstones where account_id = $1"),
};
const untouched = { erasedAt: null, erasedBytes: null, erasedObjects: null, isOriginalKept: null };

/** Finds the receipt of a deleted image, which is kept until the purge of its account. */
export async function findDeletion(db: Queryable, imageId: string): Promise<Deletion | null> {
  return (await db.query<Deletion>(statements.find, [imageId])).rows[0] ?? null;
}

/** Finds the receipt of an image that this account deleted. */
export async function findOwnDeletion(db: Queryable, accountId: string, imageId: string): Promise<Deletion | null> {
  const deletion = await findDeletion(db, imageId);
  return deletion?.accountId === accountId ? deletion : null;
}

export const insertDeletion = (tx: Tx, deletion: Omit<Deletion, keyof typeof untouched>) =>
  tombstones.insert(tx, { ...deletion, ...untouched });

/** Locks the oldest deletion with unerased bytes; other instances may work on the rest. */
export async function lockNextDeletion(tx: Tx): Promise<Deletion | null> {
  return (await tx.query<Deletion>(statements.lockNext, [])).rows[0] ?? null;
}

/** Saves what was erased of a deletion, and returns it as it is then. */
export async function saveErased(tx: Tx, deletion: Deletion, erased: Erased, erasedAt: Date): Promise<Deletion> {
  const { bytes, objects: erasedObjects, isKept: isOriginalKept } = erased;
  await tx.query(statements.saveErased, [deletion.imageId, erasedAt, bytes, erasedObjects, isOriginalKept]);
  return { ...deletion, erasedAt, erasedBytes: BigInt(bytes), erasedObjects, isOriginalKept };
}

export const removeDeletionsOf = (tx: Tx, accountId: string) => tx.query(statements.removeOf, [accountId]);
