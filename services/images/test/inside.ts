import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { libraryMigrations } from "@signalbox/service";
import { inTransaction, migrate, openObjectFiles, openObjectStore, openPool } from "@signalbox/storage";
import { testContext, testDatabase } from "@signalbox/testing";
import { createBlobStore } from "../src/blobs/blob-store.ts";
import { createRenditionStore } from "../src/blobs/rendition-store.ts";
import { createDeletionStore } from "../src/images/deletion-store.ts";
import { type Image, newImage, type Original } from "../src/images/image.ts";
import { NewImageFields } from "../src/images/image-fields.ts";
import { createImageStore } from "../src/images/image-store.ts";
import { prismaDirectory } from "./harness.ts";

export type Inside = Awaited<ReturnType<typeof openInside>>;

/**
 * Opens the stores of the service on a database and a blob folder of their own, without the service. A first render job
 * counts as lost after `lostAfterMs`.
 */
export async function openInside(lostAfterMs = 0) {
  const [database, folder] = await Promise.all([testDatabase(), mkdtemp(join(tmpdir(), "signalbox-images-inside-"))]);
  const context = testContext("images", {});
  const { log, metrics, runner } = context;
  const { url } = database;
  await migrate({ url, service: "images", prismaDirectory, libraryMigrations, log, waitMs: 0 });
  const pool = openPool({ url, max: 4, applicationName: "images-inside", log, metrics, runner });
  const imageStore = createImageStore({
    pool,
    lostAfterMs: () => lostAfterMs,
  });
  const blobStore = createBlobStore(pool);
  const objects = await openObjectStore({ url: `file:${folder}`, accessKey: null, secretKey: null, runner, log });
  return {
    context,
    pool,
    imageStore,
    blobStore,
    renditionStore: createRenditionStore(pool),
    deletionStore: createDeletionStore(pool),
    objects,
    objectFiles: await openObjectFiles({ objects, directory: null, cacheMax: 0, runner }),
    async insert(records: readonly Image[]): Promise<void> {
      await inTransaction(pool, async (tx) => {
        for (const record of records) await imageStore.insert(tx, record);
      });
    },
    async close(): Promise<void> {
      await context.close();
      await Promise.all([database.close(), rm(folder, { recursive: true })]);
    },
  };
}

/** Builds the record of an image without an upload. */
export function imageRecord({
  createdAt = new Date(),
  ...given
}: Partial<Image> & Pick<Image, "id" | "sha256">): Image {
  const original: Original = {
    filename: "a",
    sha256: given.sha256,
    sizeBytes: 1,
    placeholder: "",
    dominantColor: null,
    facts: {
      format: "png",
      mimeType: "image/png",
      width: 1,
      height: 1,
      frames: 1,
      hasAlpha: false,
      isProgressive: false,
    },
  };
  const first = newImage("acc_1", original, NewImageFields.parse({}), createdAt);
  return { ...first, status: "ready", placeholder: null, ...given };
}
