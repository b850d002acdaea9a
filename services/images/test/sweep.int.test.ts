import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { type Clock, createManualClock, hours } from "@signalbox/core";
import { inTransaction } from "@signalbox/storage";
import { keepBlob, touchBlob } from "../src/blobs/blob-store.ts";
import { sweepBlobs } from "../src/blobs/blobs.ts";
import { type Inside, imageRecord, openInside } from "./inside.ts";

let inside: Inside;
beforeEach(async () => {
  inside = await openInside();
});
afterEach(() => inside.close());

const accountId = "acc_1";
const { signal } = new AbortController();

/** Sweeps with a grace period of an hour. */
const sweep = (clock: Clock) => sweepBlobs(inside.pool, inside.objects, new Date(clock.nowMs() - hours(1)), signal);

test("only bytes that no record needs are removed after the grace period, with their renditions", async () => {
  const { pool, objects, imageStore } = inside;
  const clock = createManualClock();
  const [alone, shared] = ["a".repeat(64), "b".repeat(64)];
  const put = (key: string) => objects.put(key, Buffer.from("x"), { size: 1, contentType: "image/png" });
  for (const sha256 of [alone, shared]) {
    await touchBlob(pool, { accountId, sha256, sizeBytes: 1, mimeType: "image/png" }, clock.now());
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
  assert.equal(await sweep(clock), 0, "while records need them");
  await inTransaction(pool, async (tx) => {
    for (const record of records.slice(0, 2)) {
      await imageStore.remove(tx, [record.id]);
    }
  });
  await touchBlob(pool, { accountId, sha256: alone, sizeBytes: 1, mimeType: "image/png" }, clock.now());
  clock.advance(hours(0.5));
  assert.equal(await sweep(clock), 0, "within the grace");
  clock.advance(hours(1));
  assert.equal(await sweep(clock), 1);
  assert.equal(await objects.head(`originals/acc_1/${alone}`), null);
  assert.deepEqual((await objects.list(`renditions/acc_1/${alone}/`, { limit: 9 })).objects, []);
  assert.ok(await objects.head(`originals/acc_1/${shared}`));
});

test("a blob is either kept for its next use or swept", async () => {
  const { pool } = inside;
  const clock = createManualClock();
  const blob = { accountId, sha256: "c".repeat(64), sizeBytes: 1, mimeType: "image/png" };
  await touchBlob(pool, blob, clock.now());
  clock.advance(hours(2));
  await touchBlob(pool, blob, clock.now());
  assert.equal(await sweep(clock), 0);
  clock.advance(hours(2));
  assert.equal(await sweep(clock), 1);
  assert.equal(await inTransaction(pool, (tx) => keepBlob(tx, blob)), false);
});
