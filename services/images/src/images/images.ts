import type { Caller } from "@signalbox/auth";
import { AppError, type Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { BlobStore } from "../blobs/blob-store.ts";
import type { RenditionStore } from "../blobs/rendition-store.ts";
import type { Deletions } from "./deletions.ts";
import { changeImage, type Image, type ImageEvents, newImage, type Original } from "./image.ts";
import type { ImageChanges, NewImageFields } from "./image-fields.ts";
import type { ImageStore } from "./image-store.ts";
import { recropped, renderedAgain, renderRequested } from "./render-job.ts";

interface Dependencies {
  readonly imageStore: ImageStore;
  readonly blobStore: Pick<BlobStore, "keep" | "releaseOf">;
  readonly renditionStore: Pick<RenditionStore, "forgive">;
  readonly deletions: Pick<Deletions, "record" | "forgetAllOf">;
  readonly outbox: Pick<Outbox, "append">;
  readonly events: ImageEvents;
  readonly clock: Clock;
  /** Quota of one account; 0 is unlimited. */
  readonly quota: () => Quota;
}

interface Quota {
  readonly images: number;
  readonly bytes: number;
}

type Created = { readonly outcome: "created"; readonly image: Image } | AccountFull;

/** No room in the account; its transaction must be rolled back. */
export interface AccountFull {
  readonly outcome: "limit-reached";
  readonly limit: keyof Quota;
  readonly max: number;
}

export type Images = ReturnType<typeof createImages>;

/** Largest number of records held in memory at a time. */
const deletedTogether = 200;

/** The operations on image records: create, change, delete. */
export function createImages(dependencies: Dependencies) {
  const { imageStore, renditionStore, blobStore, outbox, events, clock } = dependencies;
  return {
    /**
     * Creates the record of a stored original, with its event and the job for its named variants.
     * @throws AppError `unavailable` when the bytes were swept meanwhile
     */
    async create(tx: Tx, caller: Caller, original: Original, fields: NewImageFields): Promise<Created> {
      const isKept = await blobStore.keep(tx, { accountId: caller.accountId, sha256: original.sha256 });
      if (!isKept) throw new AppError("unavailable", "Try again.", { retryAfterSeconds: 1 });
      const image = newImage(caller.accountId, original, fields, clock.now());
      await imageStore.insert(tx, image);
      // After the insert, which a refusal rolls back: an original that another image shares takes no room.
      const full = await judgeRoom(dependencies, tx, caller.accountId);
      if (full) return full;
      const entry = audited(caller, { action: "image.create", subject: image.id });
      await outbox.append(tx, [events.created(image), renderRequested(image), entry]);
      return { outcome: "created", image };
    },

    /** Changes an image's description and visibility. An empty change leaves no trace. */
    async update(tx: Tx, caller: Caller, before: Image, changes: ImageChanges): Promise<Image> {
      const { image, changed } = changeImage(before, changes, clock.now());
      if (changed.length === 0) return before;
      const isRecropped = changed.includes("focal_point");
      const { saved, jobs } = isRecropped ? recropped(image, clock.now()) : { saved: image, jobs: [] };
      await (isRecropped ? imageStore.saveIssued(tx, saved) : imageStore.save(tx, saved));
      const entry = audited(caller, { action: "image.update", subject: image.id, fields: changed });
      await outbox.append(tx, [events.updated(saved, changed), ...jobs, entry]);
      return saved;
    },

    /** Requests the named variants again. A failed image starts again; another one keeps its status meanwhile. */
    async reprocess(tx: Tx, caller: Caller, before: Image): Promise<Image> {
      const { image, changed, jobs } = renderedAgain(before, clock.now());
      await imageStore.saveIssued(tx, image);
      await renditionStore.forgive(tx, image);
      const entry = audited(caller, { action: "image.reprocess", subject: image.id });
      const updates = changed.length > 0 ? [events.updated(image, changed)] : [];
      await outbox.append(tx, [...updates, ...jobs, entry]);
      return image;
    },

    /** Deletes the record; its bytes are erased right after, unless another record of the account shares them. */
    delete: (tx: Tx, caller: Caller, image: Image) => deleteOne(dependencies, tx, caller, image),

    /** Deletes those of the images that the account has, and says of each what became of it. */
    async deleteMany(tx: Tx, caller: Caller, ids: readonly string[]): Promise<DeletionOutcome[]> {
      const own = new Map((await imageStore.lockOwnMany(tx, caller.accountId, ids)).map((image) => [image.id, image]));
      for (const image of own.values()) await deleteOne(dependencies, tx, caller, image);
      return ids.map((id) => ({ id, outcome: own.has(id) ? "deleted" : "missing" }));
    },

    /** Deletes every image of a purged account, and the tombstones of its earlier deletions. */
    deleteAllOf: (tx: Tx, accountId: string) => deleteAllOf(dependencies, tx, accountId),
  };
}

interface DeletionOutcome {
  readonly id: string;
  readonly outcome: "deleted" | "missing";
}

async function deleteOne(
  { imageStore, deletions, outbox, events }: Dependencies,
  tx: Tx,
  caller: Caller,
  image: Image,
): Promise<void> {
  await imageStore.remove(tx, image);
  await deletions.record(tx, image, `${caller.accountId} ${caller.credential.id}`);
  const entry = audited(caller, { action: "image.delete", subject: image.id });
  await outbox.append(tx, [events.deleted(image), entry]);
}

/** Judges the account's quota with the new record included. */
async function judgeRoom({ imageStore, quota }: Dependencies, tx: Tx, accountId: string): Promise<AccountFull | null> {
  const most = quota();
  if (most.images === 0 && most.bytes === 0) return null;
  const used = await imageStore.lockUsage(tx, accountId);
  const limit = (["images", "bytes"] as const).find((one) => most[one] > 0 && used[one] > most[one]);
  return limit === undefined ? null : { outcome: "limit-reached", limit, max: most[limit] };
}

async function deleteAllOf(
  { imageStore, deletions, blobStore, outbox, events }: Dependencies,
  tx: Tx,
  accountId: string,
): Promise<void> {
  await deletions.forgetAllOf(tx, accountId);
  for (;;) {
    const images = await imageStore.lockSomeOf(tx, accountId, deletedTogether);
    if (images.length === 0) break;
    await imageStore.removeMany(
      tx,
      images.map(({ id }) => id),
    );
    await outbox.append(tx, images.map(events.deleted));
  }
  // Includes originals that never had a record, and those that wait for erasure.
  await blobStore.releaseOf(tx, accountId);
}
