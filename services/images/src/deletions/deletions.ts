import { draft, type ImageDeletionResource } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited, systemActor } from "@signalbox/service";
import { inTransaction, type Pool } from "@signalbox/storage";
import type { Blobs } from "../blobs/blobs.ts";
import type { Deletion, DeletionStore } from "./deletion-store.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly deletionStore: DeletionStore;
  readonly blobs: Pick<Blobs, "erase">;
  readonly outbox: Pick<Outbox, "append">;
  readonly clock: Clock;
}

export type Deletions = ReturnType<typeof createDeletions>;

/** The bytes of deleted images: erased immediately, with a receipt. */
export function createDeletions({ pool, deletionStore, blobs, outbox, clock }: Dependencies) {
  return {
    /**
     * Erases the bytes of the image with the oldest pending deletion and records what was erased; false when none is
     * pending. After a crash the deletion is still pending.
     */
    eraseNext: (): Promise<boolean> =>
      inTransaction(pool, async (tx) => {
        const deletion = await deletionStore.lockNext(tx);
        if (!deletion) return false;
        const erased = await blobs.erase(tx, deletion);
        const now = clock.now();
        await deletionStore.saveErased(tx, deletion, erased, now);
        const { imageId: subject, accountId } = deletion;
        const done: Deletion = {
          ...deletion,
          ...{ erasedAt: now, erasedBytes: BigInt(erased.bytes), erasedObjects: erased.objects },
          isOriginalKept: erased.isKept,
        };
        const entry = audited(systemActor("images"), { action: "image.erase", accountId, subject });
        await outbox.append(tx, [
          draft("image.erased", { subject, accountId, data: { ...viewDeletion(done), changed: [] } }),
          entry,
        ]);
        return true;
      }),

    /** Finds the receipt of an image that this account deleted. */
    async findOwn(accountId: string, imageId: string): Promise<Deletion | null> {
      const deletion = await deletionStore.find(imageId);
      return deletion?.accountId === accountId ? deletion : null;
    },
  };
}

/** Builds the owner's view of the receipt. */
export function viewDeletion(deletion: Deletion): ImageDeletionResource {
  const { erasedAt, erasedBytes, erasedObjects, isOriginalKept } = deletion;
  return {
    image_id: deletion.imageId,
    account_id: deletion.accountId,
    sha256: deletion.sha256,
    status: erasedAt ? "erased" : "erasing",
    deleted_at: deletion.deletedAt.toISOString(),
    erased_at: erasedAt?.toISOString() ?? null,
    erased_bytes: erasedBytes === null ? null : Number(erasedBytes),
    erased_objects: erasedObjects,
    kept: isOriginalKept ? "shared_with_another_image" : null,
  };
}
