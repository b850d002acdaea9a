import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { createManualClock, hours } from "@signalbox/core";
import { inTransaction } from "@signalbox/storage";
import { createBlobs } from "../src/blobs/blobs.ts";
import { type Inside, imageRecord, openInside } from "./inside.ts";

let inside: Inside;
beforeEach(async () => {
  inside = await openInside();
});
afterEach(() => inside.close());

const accountId = "acc_1";
const { signal } = new AbortController();

test("unneeded bytes are removed after the grace period with their renditions, and shared bytes stay", async () => {
  const { pool, objects, blobStore, imageStore } = inside;
  const clock = createManualClock();
  const blobs = createBlobs({ ...inside, clock, graceMs: () => hours(1) });
  const [alone, shared] = ["a".repeat(64), "b".repeat(64)];
  const put = (key: string) => objects.put(key, Buffer.from("x"), { size: 1, contentType: "image/png" });
  for (const sha256 of [alone, shared]) {
    await blobStore.touch({ accountId, sha256, sizeBytes: 1, mimeType: "image/png" }, clock.now());
    for (const key of [
      `originals/acc_1/${sha256}`,
      `renditions/acc_1/${sha256}/w1.png`,
      `renditions/acc_1/${sha256}/w2.png`,
    ])
      await put(key);
  }
  const createdAt = clock.now();
  const records = [
    imageRecord({ id: "img_1", sha256: alone, createdAt }),
    imageRecord({ id: "img_2", sha256: shared, createdAt }),
    imageRecord({ id: "img_3", sha256: shared, createdAt }),
  ];
  await inside.insert(records);

  clock.advance(hours(5));
  assert.equal(await blobs.sweep(signal), 0, "while records need them");
  await inTransaction(pool, async (tx) => {
    for (const record of records.slice(0, 2)) {
      await imageStore.remove(tx, record);
    }
  });
  await blobStore.touch({ accountId, sha256: alone, sizeBytes: 1, mimeType: "image/png" }, clock.now());
  clock.advance(hours(0.5));
  assert.equal(await blobs.sweep(signal), 0, "within the grace");
  clock.advance(hours(1));
  assert.equal(await blobs.sweep(signal), 1);
  assert.equal(await objects.head(`originals/acc_1/${alone}`), null);
  assert.deepEqual((await objects.list(`renditions/acc_1/${alone}/`, { limit: 9 })).objects, []);
  assert.ok(await objects.head(`originals/acc_1/${shared}`));
});

test("a blob that is about to be used again is not swept, and a swept one cannot be kept", async () => {
  const { pool, blobStore } = inside;
  const clock = createManualClock();
  const blobs = createBlobs({ ...inside, clock, graceMs: () => hours(1) });
  const blob = { accountId, sha256: "c".repeat(64), sizeBytes: 1, mimeType: "image/png" };
  await blobStore.touch(blob, clock.now());
  clock.advance(hours(2));
  await blobStore.touch(blob, clock.now());
  assert.equal(await blobs.sweep(signal), 0);
  clock.advance(hours(2));
  assert.equal(await blobs.sweep(signal), 1);
  assert.equal(await inTransaction(pool, (tx) => blobStore.keep(tx, blob)), false);
});
