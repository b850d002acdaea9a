import { draft, ImageDeletionResource, imageExample, viewOf } from "@signalbox/contracts";
import { ok } from "@signalbox/http";
import { audited, type Edges, edgesOf, record, systemActor } from "@signalbox/service";
import { inTransaction, type Tx } from "@signalbox/storage";
import { eraseBlob, removeStrays } from "../blobs/blobs.ts";
import type { ImagesService } from "../context/images-service.ts";
import type { Image } from "../state/image.ts";
import {
  type Deletion,
  findDeletion,
  findOwnDeletion,
  insertDeletion,
  lockNextDeletion,
  removeDeletionsOf,
  saveErased,
} from "./deletion-store.ts";

/** Records the deletion of an image, whose bytes are erased right after. */
export async function recordDeletion(service: ImagesService, tx: Tx, image: Image, deletedBy: string): Promise<void> {
  const { clock, eraseWakeUp } = service;
  const { id: imageId, accountId, sha256 } = image;
  await insertDeletion(tx, { imageId, accountId, sha256, deletedBy, deletedAt: clock.now() });
  tx.afterCommit(eraseWakeUp.wake);
}

/** Forgets the receipts of a purged account, whose bytes are released in the same transaction. */
export async function forgetDeletionsOf({ eraseWakeUp }: ImagesService, tx: Tx, accountId: string): Promise<void> {
  await removeDeletionsOf(tx, accountId);
  tx.afterCommit(eraseWakeUp.wake);
}

/** Removes renditions that the worker stored after the image was deleted. */
export async function removeLateRenditions({ objects }: ImagesService, tx: Tx, imageId: string): Promise<void> {
  const deletion = await findDeletion(tx, imageId);
  if (deletion) await removeStrays(tx, objects, deletion);
}

/**
 * Erases the bytes of the image with the oldest pending deletion and records what was erased; false when none is
 * pending. After a crash the deletion is still pending.
 */
export async function eraseNextImage({ pool, objects, outbox, clock }: ImagesService): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    const deletion = await lockNextDeletion(tx);
    if (!deletion) return false;
    const erased = await eraseBlob(tx, objects, deletion);
    const done = await saveErased(tx, deletion, erased, clock.now());
    const { imageId: subject, accountId } = deletion;
    const entry = audited(systemActor("images"), { action: "image.erase", accountId, subject });
    await outbox.append(tx, [
      draft("image.erased", { subject, accountId, data: { ...viewDeletion(done), changed: [] } }),
      entry,
    ]);
    return true;
  });
}

/** The receipts of deleted images, over REST alone: the graph shows what there is. */
export const deletionApi = (service: ImagesService): Edges =>
  edgesOf(
    {
      imageDeletion: record({
        summary: "Read the receipt of a deletion",
        description:
          "What was erased, how many bytes and when, and what stayed because another image of the account needs it.",
        auth: { scopes: ["images:read"] },
        find: ({ caller, params }) => findOwnDeletion(service.pool, caller.accountId, params.image_id),
        missing: "There is no deletion receipt for this image.",
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
const viewDeletion = viewOf(ImageDeletionResource, ({ erasedAt, erasedBytes, isOriginalKept }: Deletion) => ({
  status: erasedAt ? ("erased" as const) : ("erasing" as const),
  erased_bytes: erasedBytes === null ? null : Number(erasedBytes),
  kept: isOriginalKept ? ("shared_with_another_image" as const) : null,
}));
