import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { BlobStore } from "../blobs/blob-store.ts";
import type { Image } from "./image.ts";
import type { ImageEvents } from "./image-events.ts";
import type { ImageStore } from "./image-store.ts";

export interface DeleteImage {
  readonly accountId: string;
  readonly imageId: string;
  /** Account and credential of the caller, for the tombstone. */
  readonly deletedBy: string;
  readonly expect?: (image: Image) => void;
  readonly alongside?: (tx: Tx) => Promise<void>;
}

interface Dependencies {
  readonly pool: Pool;
  readonly images: ImageStore;
  readonly blobs: Pick<BlobStore, "released">;
  readonly outbox: Pick<Outbox, "append">;
  readonly events: ImageEvents;
  readonly clock: Clock;
}

/** Removes an image; its bytes are swept later, when no other record shares them. False when there was none. */
export function createDeleteImage({ pool, images, blobs, outbox, events, clock }: Dependencies) {
  return function deleteImage(input: DeleteImage): Promise<boolean> {
    return inTransaction(pool, async (tx) => {
      const image = await images.lock(tx, input.imageId);
      if (image?.accountId !== input.accountId) return false;
      input.expect?.(image);
      const now = clock.now();
      await images.delete(tx, image, { deletedBy: input.deletedBy, deletedAt: now });
      await blobs.released(tx, [image.sha256], now);
      await outbox.append(tx, [events.deleted(image)]);
      await input.alongside?.(tx);
      return true;
    });
  };
}

/** As many as are held in memory at a time. */
const batch = 200;

/** Removes every image of a purged account, in the transaction of the consumer that heard of it. */
export function createDeleteImagesOfAccount({ images, blobs, outbox, events, clock }: Omit<Dependencies, "pool">) {
  return async function deleteImagesOfAccount(tx: Tx, accountId: string): Promise<void> {
    for (;;) {
      const owned = await images.lockSomeOf(tx, accountId, batch);
      if (owned.length === 0) return;
      const now = clock.now();
      for (const image of owned) await images.delete(tx, image, { deletedBy: null, deletedAt: now });
      const sha256s = owned.map(({ sha256 }) => sha256);
      await blobs.released(tx, sha256s, now);
      await outbox.append(tx, owned.map(events.deleted));
    }
  };
}
