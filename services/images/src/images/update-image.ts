import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import { changeImage } from "./change-image.ts";
import type { Image } from "./image.ts";
import type { ImageEvents } from "./image-events.ts";
import type { ImageChanges } from "./image-fields.ts";
import type { ImageStore } from "./image-store.ts";

export interface UpdateImage {
  readonly accountId: string;
  readonly imageId: string;
  readonly changes: ImageChanges;
  /** Looks at the locked record before it changes; throws to refuse, as `If-Match` does. */
  readonly expect?: (image: Image) => void;
  /** Runs in the transaction of the change, as the stored answer of an `Idempotency-Key` does. */
  readonly alongside?: (tx: Tx, image: Image) => Promise<void>;
}

interface Dependencies {
  readonly pool: Pool;
  readonly images: ImageStore;
  readonly outbox: Pick<Outbox, "append">;
  readonly events: ImageEvents;
  readonly clock: Clock;
}

/** Changes what an image is called and who may see it. Null when the account has no such image. */
export function createUpdateImage({ pool, images, outbox, events, clock }: Dependencies) {
  return function updateImage(input: UpdateImage): Promise<Image | null> {
    return inTransaction(pool, async (tx) => {
      const current = await images.lock(tx, input.imageId);
      if (current?.accountId !== input.accountId) return null;
      input.expect?.(current);
      const { image, changed } = changeImage(current, input.changes, clock.now());
      if (changed.length > 0) {
        await images.save(tx, image);
        await outbox.append(tx, [events.updated(image, changed)]);
      }
      await input.alongside?.(tx, image);
      return image;
    });
  };
}
