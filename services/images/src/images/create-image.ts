import { createReadStream } from "node:fs";
import { AppError, type Clock, newId } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { type ImageLimits, type Inspection, inspectCost, inspectImage, type JobSlots } from "@signalbox/imaging";
import { inTransaction, type ObjectStore, type Pool, type Tx } from "@signalbox/storage";
import { originalKey } from "../blobs/blob-keys.ts";
import type { BlobStore } from "../blobs/blob-store.ts";
import { renderRequested } from "../renditions/render-job.ts";
import type { StagedFile } from "../uploads/staging-area.ts";
import { readFilename } from "../uploads/upload-fields.ts";
import type { Image } from "./image.ts";
import type { ImageEvents } from "./image-events.ts";
import type { NewImageFields } from "./image-fields.ts";
import type { ImageStore } from "./image-store.ts";

export interface CreateImage {
  readonly accountId: string;
  readonly file: StagedFile;
  /** As the client calls it; "" for none. */
  readonly filename: string;
  readonly fields: NewImageFields;
  readonly alongside?: (tx: Tx, image: Image) => Promise<void>;
}

export type CreateImageOutcome =
  | { readonly outcome: "created"; readonly image: Image }
  | Exclude<Inspection, { outcome: "accepted" }>;

interface Dependencies {
  readonly pool: Pool;
  readonly images: ImageStore;
  readonly blobs: BlobStore;
  readonly objects: ObjectStore;
  readonly slots: JobSlots;
  readonly outbox: Pick<Outbox, "append">;
  readonly events: ImageEvents;
  readonly clock: Clock;
  readonly imageLimits: () => ImageLimits;
  readonly acceptedTypes: () => readonly string[];
}

/**
 * Makes a record of a file: judges it, stores its bytes under their hash, and then, in one transaction, the record with
 * its event and the job for its named variants. Does not discard the file.
 */
export function createCreateImage(dependencies: Dependencies) {
  const { pool, images, blobs, objects, slots, outbox, events, clock, imageLimits, acceptedTypes } = dependencies;

  return async function createImage(input: CreateImage): Promise<CreateImageOutcome> {
    const { file } = input;
    const inspection = await slots.run(inspectCost(file.bytes), () =>
      inspectImage(file.path, file.head, imageLimits()),
    );
    if (inspection.outcome !== "accepted") return inspection;
    const { mimeType } = inspection.facts;
    if (!acceptedTypes().includes(mimeType)) {
      const advice = `This service takes ${acceptedTypes().join(", ")}.`;
      return { outcome: "not-accepted", mimeType, advice };
    }
    const image = imageFrom(input, inspection, clock.now());
    await storeOriginal(file, image);
    await inTransaction(pool, async (tx) => {
      if (!(await blobs.keep(tx, image.sha256)))
        throw new AppError("unavailable", "Try again.", { retryAfterSeconds: 1 });
      await images.insert(tx, image);
      await outbox.append(tx, [events.created(image), renderRequested(image)]);
      await input.alongside?.(tx, image);
    });
    return { outcome: "created", image };
  };

  async function storeOriginal({ path }: StagedFile, { sha256, sizeBytes, mimeType }: Image): Promise<void> {
    await blobs.touch({ sha256, sizeBytes, mimeType }, clock.now());
    const options = { size: sizeBytes, contentType: mimeType, ifAbsent: true, sha256 };
    await objects.put(originalKey(sha256), createReadStream(path), options);
  }
}

function imageFrom(
  { accountId, file, filename, fields }: CreateImage,
  { facts, placeholder }: Extract<Inspection, { outcome: "accepted" }>,
  now: Date,
): Image {
  const { mimeType, width, height, frames, hasAlpha, isProgressive } = facts;
  return {
    id: newId("img", now.getTime()),
    accountId,
    filename: readFilename(filename, mimeType),
    ...{ mimeType, width, height, frames, hasAlpha, isProgressive },
    sizeBytes: file.bytes,
    sha256: file.sha256,
    title: fields.title,
    caption: fields.caption,
    altText: fields.alt_text,
    tags: fields.tags,
    visibility: fields.visibility,
    status: "processing",
    placeholder,
    focalPoint: null,
    renderJobId: newId("job", now.getTime()),
    renderAttempt: 1,
    revision: 1n,
    createdAt: now,
    updatedAt: now,
  };
}
