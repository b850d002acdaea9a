import { draft, ImageDeletionResource, imageExample } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { ok } from "@signalbox/http";
import { audited, type Edges, edgesOf, record, systemActor } from "@signalbox/service";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { Blobs } from "../blobs/blobs.ts";
import type { Deletion, DeletionStore } from "./deletion-store.ts";
import type { Image } from "./image.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly deletionStore: DeletionStore;
  readonly blobs: Pick<Blobs, "erase" | "removeStrays">;
  readonly outbox: Pick<Outbox, "append">;
  readonly clock: Clock;
  /** Called when bytes of a deleted image wait for erasure. */
  readonly eraseSoon: () => void;
}

export type Deletions = ReturnType<typeof createDeletions>;

/** The bytes of deleted images: erased immediately, with a receipt. */
export function createDeletions({ pool, deletionStore, blobs, outbox, clock, eraseSoon }: Dependencies) {
  return {
    /** Records the deletion of an image, whose bytes are erased right after. */
    async record(tx: Tx, image: Image, deletedBy: string): Promise<void> {
      await deletionStore.insert(tx, image, { deletedBy, deletedAt: clock.now() });
      tx.afterCommit(eraseSoon);
    },

    /** Forgets the receipts of a purged account, whose bytes are released in the same transaction. */
    async forgetAllOf(tx: Tx, accountId: string): Promise<void> {
      await deletionStore.removeOf(tx, accountId);
      tx.afterCommit(eraseSoon);
    },

    /** Removes renditions that the worker stored after the image was deleted. */
    async removeLate(tx: Tx, imageId: string): Promise<void> {
      const deletion = await deletionStore.find(imageId);
      if (deletion) await blobs.removeStrays(tx, deletion);
    },

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
          erasedAt: now,
          erasedBytes: BigInt(erased.bytes),
          erasedObjects: erased.objects,
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

export interface DeletionApi {
  readonly deletions: Pick<Deletions, "findOwn">;
}

/** The receipts of deleted images, over REST alone: the graph shows what there is. */
export const deletionApi = ({ deletions }: DeletionApi): Edges =>
  edgesOf(
    {
      imageDeletion: record({
        summary: "Read the receipt of a deletion",
        description:
          "What was erased, how many bytes and when, and what stayed because another image of the account needs it.",
        auth: { scopes: ["images:read"] },
        find: ({ caller, params }) => deletions.findOwn(caller.accountId, params.image_id),
        missing: "There is no receipt of such an image.",
        rest: {
          get: "/images/deletions/:image_id",
          resource: ImageDeletionResource,
          answer: (deletion) => ok(viewDeletion(deletion)),
        },
      }),
    },
    { errors: "image", exampleIds: { image_id: imageExample.id } },
  );

/** Builds the owner's view of the receipt. */
function viewDeletion(deletion: Deletion): ImageDeletionResource {
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
