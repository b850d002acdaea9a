import { type Pool, sql, type Tx, table } from "@signalbox/storage";
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

export type DeletionStore = ReturnType<typeof createDeletionStore>;

const tombstones = table("tombstones", columns.tombstones);
const select = `select ${tombstones.columns} from tombstones`;
const findDeletion = sql("deletion.find", `${select} where image_id = $1`);
const lockNext = sql(
  "deletion.lock-next",
  `${select} where erased_at is null order by deleted_at limit 1 for update skip locked`,
);
const saveErased = sql(
  "deletion.save-erased",
  `update tombstones set erased_at = $2, erased_bytes = $3, erased_objects = $4, is_original_kept = $5
   where image_id = $1`,
);
const removeOf = sql("deletion.remove-of", "delete from tombstones where account_id = $1");
const untouched = { erasedAt: null, erasedBytes: null, erasedObjects: null, isOriginalKept: null };

/** Receipts of deleted images, kept until the purge of their account. */
export function createDeletionStore(pool: Pool) {
  return {
    async find(imageId: string): Promise<Deletion | null> {
      return (await pool.query<Deletion>(findDeletion, [imageId])).rows[0] ?? null;
    },

    insert: (
      tx: Tx,
      { id: imageId, accountId, sha256 }: OriginalId & { readonly id: string },
      by: Pick<Deletion, "deletedBy" | "deletedAt">,
    ) => tombstones.insert(tx, { imageId, accountId, sha256, ...by, ...untouched }),

    /** Locks the oldest deletion with unerased bytes; other instances may work on the rest. */
    async lockNext(tx: Tx): Promise<Deletion | null> {
      return (await tx.query<Deletion>(lockNext, [])).rows[0] ?? null;
    },

    async saveErased(tx: Tx, { imageId }: Deletion, { bytes, objects, isKept }: Erased, now: Date): Promise<void> {
      await tx.query(saveErased, [imageId, now, bytes, objects, isKept]);
    },

    removeOf: async (tx: Tx, accountId: string): Promise<void> => void (await tx.query(removeOf, [accountId])),
  };
}
