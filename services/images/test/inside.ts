import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { libraryMigrations } from "@signalbox/service";
import { inTransaction, migrate, openObjectFiles, openObjectStore, openPool } from "@signalbox/storage";
import { testContext, testDatabase } from "@signalbox/testing";
import { properties } from "../src/properties.ts";
import { type Image, newImage, type Original } from "../src/state/image.ts";
import { NewImageFields } from "../src/state/image-fields.ts";
import { ImageStore } from "../src/state/image-store.ts";
import { prismaDirectory } from "./harness.ts";

/** Properties without a default that no store reads. */
const unused = {
  "internal.token": "token".repeat(8),
  "account.internal-url": "http://127.0.0.1",
  "secrets.keys": `test:${Buffer.alloc(32, 7).toString("base64")}`,
};

export type Inside = Awaited<ReturnType<typeof openInside>>;

/** Opens the stores of the service on a database and a blob folder of their own, without the service. */
export async function openInside() {
  const [database, folder] = await Promise.all([testDatabase(), mkdtemp(join(tmpdir(), "signalbox-images-inside-"))]);
  const { url } = database;
  const context = testContext("images", properties, {
    ...unused,
    "database.url": url,
    "events.url": url,
    "blobs.url": `file:${folder}`,
  });
  const { configuration, log, metrics, runner } = context;
  await migrate({ url, service: "images", prismaDirectory, libraryMigrations, log, waitMs: 0 });
  const pool = openPool({ url, max: 4, applicationName: "images-inside", log, metrics, runner });
  const imageStore = new ImageStore(pool, configuration);
  const objects = await openObjectStore({ url: `file:${folder}`, accessKey: null, secretKey: null, runner, log });
  return {
    context,
    configuration,
    pool,
    imageStore,
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
    colorSpace: null,
    hdr: null,
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
