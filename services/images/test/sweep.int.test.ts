import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { createManualClock, hours } from "@signalbox/core";
import { eventsMigrations } from "@signalbox/events";
import {
  inTransaction,
  migrate,
  type ObjectStore,
  openObjectStore,
  openPool,
  type Pool,
  prismaAdapter,
} from "@signalbox/storage";
import { type TestContext, type TestDatabase, testContext, testDatabase } from "@signalbox/testing";
import { createBlobStore } from "../src/blobs/blob-store.ts";
import { createSweepBlobs } from "../src/blobs/sweep-blobs.ts";
import { PrismaClient } from "../src/generated/prisma/client.ts";
import type { Image } from "../src/images/image.ts";
import { createImageStore } from "../src/images/image-store.ts";
import { prismaDirectory } from "./harness.ts";

let database: TestDatabase;
let context: TestContext<Record<never, never>>;
let folder: string;
let pool: Pool;
let objects: ObjectStore;

beforeEach(async () => {
  [database, folder] = await Promise.all([testDatabase(), mkdtemp(join(tmpdir(), "signalbox-sweep-test-"))]);
  context = testContext("images", {});
  const { log, metrics, runner } = context;
  await migrate({
    url: database.url,
    service: "images",
    prismaDirectory,
    libraryMigrations: [eventsMigrations],
    log,
    waitMs: 0,
  });
  pool = openPool({ url: database.url, max: 4, applicationName: "sweep-test", log, metrics, runner });
  objects = await openObjectStore({ url: `file:${folder}`, accessKey: null, secretKey: null, runner, log });
});
afterEach(async () => {
  await context.close();
  await Promise.all([database.close(), rm(folder, { recursive: true })]);
});

const image = (id: string, sha256: string, at: Date): Image => ({
  ...{ id, accountId: "acc_1", filename: "a", mimeType: "image/png", width: 1, height: 1, sizeBytes: 1, sha256 },
  ...{ frames: 1, hasAlpha: false, isProgressive: false, title: null, caption: null, altText: null, tags: [] },
  ...{
    visibility: "private",
    status: "ready",
    placeholder: null,
    focalPoint: null,
    renderJobId: "j",
    renderAttempt: 1,
  },
  ...{ revision: 1n, createdAt: at, updatedAt: at },
});

test("bytes go when the last record has been gone for the grace, renditions with them, and shared bytes stay", async () => {
  const clock = createManualClock();
  const blobs = createBlobStore(pool);
  const images = createImageStore(pool, new PrismaClient({ adapter: prismaAdapter(pool) }));
  const sweep = createSweepBlobs({ pool, blobs, objects, clock, graceMs: () => hours(1) });
  const { signal } = new AbortController();
  const [alone, shared] = ["a".repeat(64), "b".repeat(64)];
  const put = (key: string) => objects.put(key, Buffer.from("x"), { size: 1, contentType: "image/png" });
  for (const sha256 of [alone, shared]) {
    await blobs.touch({ sha256, sizeBytes: 1, mimeType: "image/png" }, clock.now());
    for (const key of [`originals/${sha256}`, `renditions/${sha256}/w1.png`, `renditions/${sha256}/w2.png`])
      await put(key);
  }
  const records = [
    image("img_1", alone, clock.now()),
    image("img_2", shared, clock.now()),
    image("img_3", shared, clock.now()),
  ];
  await inTransaction(pool, async (tx) => {
    for (const record of records) await images.insert(tx, record);
  });

  clock.advance(hours(5));
  assert.equal(await sweep(signal), 0, "while records need them");
  await inTransaction(pool, async (tx) => {
    for (const record of records.slice(0, 2)) {
      await images.delete(tx, record, { deletedBy: null, deletedAt: clock.now() });
      await blobs.released(tx, [record.sha256], clock.now());
    }
  });
  clock.advance(hours(0.5));
  assert.equal(await sweep(signal), 0, "within the grace");
  clock.advance(hours(1));
  assert.equal(await sweep(signal), 1);
  assert.equal(await objects.head(`originals/${alone}`), null);
  assert.deepEqual((await objects.list(`renditions/${alone}/`, { limit: 9 })).objects, []);
  assert.ok(await objects.head(`originals/${shared}`));
});

test("a blob that is about to be used again is not swept, and one that was swept cannot be kept", async () => {
  const clock = createManualClock();
  const blobs = createBlobStore(pool);
  const sweep = createSweepBlobs({ pool, blobs, objects, clock, graceMs: () => hours(1) });
  const { signal } = new AbortController();
  const blob = { sha256: "c".repeat(64), sizeBytes: 1, mimeType: "image/png" };
  await blobs.touch(blob, clock.now());
  clock.advance(hours(2));
  await blobs.touch(blob, clock.now());
  assert.equal(await sweep(signal), 0);
  clock.advance(hours(2));
  assert.equal(await sweep(signal), 1);
  assert.equal(await inTransaction(pool, (tx) => blobs.keep(tx, blob.sha256)), false);
});
