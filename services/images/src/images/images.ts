import type { Caller } from "@signalbox/auth";
import { AppError } from "@signalbox/core";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { keepBlob, releaseBlobsOf } from "../blobs/blob-store.ts";
import { forgiveRenditions } from "../blobs/rendition-store.ts";
import type { ImagesService } from "../context/images-service.ts";
import { changeImage, type Image, newImage, type Original } from "../state/image.ts";
import type { ImageChanges, NewImageFields } from "../state/image-fields.ts";
import { recropped, renderedAgain, renderRequested } from "../state/render-job.ts";
import { eagerJobs } from "../transformations/transformations.ts";
import { forgetDeletionsOf, recordDeletion } from "./deletions.ts";
import { imageCreated, imageDeleted, imageUpdated } from "./image-events.ts";

type Created = { readonly outcome: "created"; readonly image: Image } | AccountFull;

/** No room in the account; its transaction must be rolled back. */
export interface AccountFull {
  readonly outcome: "limit-reached";
  readonly limit: "images" | "bytes";
  readonly max: number;
}

/** Largest number of records held in memory at a time. */
const deletedTogether = 200;

/**
 * Creates the record of a stored original, with its event and the job for its named variants.
 * @throws AppError `unavailable` when the bytes were swept meanwhile
 */
export async function createImage(
  service: ImagesService,
  tx: Tx,
  caller: Caller,
  original: Original,
  fields: NewImageFields,
): Promise<Created> {
  const { imageStore, outbox, clock } = service;
  const isKept = await keepBlob(tx, { accountId: caller.accountId, sha256: original.sha256 });
  if (!isKept) throw new AppError("unavailable", "Try again.", { retryAfterSeconds: 1 });
  const all = await service.transformationStore.readAll(tx, caller.accountId);
  const transformations = Object.fromEntries(all.map(({ name, version }) => [name, version]));
  const image = { ...newImage(caller.accountId, original, fields, clock.now()), transformations };
  await imageStore.insert(tx, image);
  // After the insert, which a refusal rolls back: an original that another image shares takes no room.
  const full = await judgeRoom(service, tx, caller.accountId);
  if (full) return full;
  const entry = audited(caller, { action: "image.create", subject: image.id });
  const jobs = [renderRequested(image), ...(await eagerJobs(service, tx, image, all))];
  await outbox.append(tx, [imageCreated(service, image), ...jobs, entry]);
  return { outcome: "created", image };
}

/** Judges the account's quota with the new record included. */
async function judgeRoom(service: ImagesService, tx: Tx, accountId: string): Promise<AccountFull | null> {
  const { imageStore, configuration } = service;
  const most = { images: configuration.get("images.quota.images"), bytes: configuration.get("images.quota.bytes") };
  if (most.images === 0 && most.bytes === 0) return null;
  const used = await imageStore.lockUsage(tx, accountId);
  const limit = (["images", "bytes"] as const).find((one) => most[one] > 0 && used[one] > most[one]);
  return limit === undefined ? null : { outcome: "limit-reached", limit, max: most[limit] };
}

/** Changes an image's description and visibility. An empty change leaves no trace. */
export async function updateImage(
  service: ImagesService,
  tx: Tx,
  caller: Caller,
  before: Image,
  changes: ImageChanges,
): Promise<Image> {
  const { imageStore, outbox, clock } = service;
  const { image, changed } = changeImage(before, changes, clock.now());
  if (changed.length === 0) return before;
  const isRecropped = changed.includes("focal_point");
  const { saved, jobs } = isRecropped ? recropped(image, clock.now()) : { saved: image, jobs: [] };
  await (isRecropped ? imageStore.saveIssued(tx, saved) : imageStore.save(tx, saved));
  const entry = audited(caller, { action: "image.update", subject: image.id, fields: changed });
  await outbox.append(tx, [imageUpdated(service, saved, changed), ...jobs, entry]);
  return saved;
}

/** Requests the named variants again. A failed image starts again; another one keeps its status meanwhile. */
export async function reprocessImage(service: ImagesService, tx: Tx, caller: Caller, before: Image): Promise<Image> {
  const { imageStore, outbox, clock } = service;
  const { image, changed, jobs } = renderedAgain(before, clock.now());
  await imageStore.saveIssued(tx, image);
  await forgiveRenditions(tx, image);
  const entry = audited(caller, { action: "image.reprocess", subject: image.id });
  const updates = changed.length > 0 ? [imageUpdated(service, image, changed)] : [];
  const eager = await eagerJobs(service, tx, image, await service.transformationStore.readAll(tx, caller.accountId));
  await outbox.append(tx, [...updates, ...jobs, ...eager, entry]);
  return image;
}

/** Deletes the record; its bytes are erased right after, unless another record of the account shares them. */
export async function deleteImage(service: ImagesService, tx: Tx, caller: Caller, image: Image): Promise<void> {
  const { imageStore, outbox } = service;
  await imageStore.remove(tx, [image.id]);
  await recordDeletion(service, tx, image, `${caller.accountId} ${caller.credential.id}`);
  const entry = audited(caller, { action: "image.delete", subject: image.id });
  await outbox.append(tx, [imageDeleted(service, image), entry]);
}

/** Deletes those of the images that the account has, and says of each what became of it. */
export async function deleteImages(
  service: ImagesService,
  tx: Tx,
  caller: Caller,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly outcome: "deleted" | "missing" }[]> {
  const found = await service.imageStore.lockOwnMany(tx, caller.accountId, ids);
  const own = new Map(found.map((image) => [image.id, image]));
  for (const image of own.values()) await deleteImage(service, tx, caller, image);
  return ids.map((id) => ({ id, outcome: own.has(id) ? "deleted" : "missing" }));
}

/** Deletes every image of a purged account, and the receipts of its earlier deletions. */
export async function deleteImagesOf(service: ImagesService, tx: Tx, accountId: string): Promise<void> {
  const { imageStore, outbox } = service;
  await forgetDeletionsOf(service, tx, accountId);
  for (;;) {
    const images = await imageStore.lockSomeOf(tx, accountId, deletedTogether);
    if (images.length === 0) break;
    const ids = images.map(({ id }) => id);
    await imageStore.remove(tx, ids);
    const events = images.map((image) => imageDeleted(service, image));
    await outbox.append(tx, events);
  }
  // Includes originals that never had a record, and those that wait for erasure.
  await releaseBlobsOf(tx, accountId);
}
