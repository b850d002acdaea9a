import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { draft } from "@signalbox/contracts";
import { newId } from "@signalbox/core";
import { inTransaction } from "@signalbox/storage";
import { eventually, readFixture, serviceWith, type TestPerson, testPerson } from "@signalbox/testing";
import { touchBlob } from "../src/blobs/blob-store.ts";
import { saveRendition } from "../src/blobs/rendition-store.ts";
import type { ImagesService } from "../src/context/images-service.ts";
import { findDeletion, insertDeletion } from "../src/images/deletion-store.ts";
import { eraseNextImage } from "../src/images/deletions.ts";
import { type Harness, startImages } from "./harness.ts";
import { imageRecord, openInside } from "./inside.ts";

let images: Harness;
before(async () => {
  images = await startImages();
});
after(() => images.close());

const uploaded = async (who: TestPerson, visibility = "public") =>
  (await images.upload(who, await readFixture("photo.jpg"), { visibility })).body;
const keysOf = async ({ accountId }: TestPerson) =>
  (await images.blobKeys()).filter((key) => key.includes(`/${accountId}/`));
const receiptOf = async (who: TestPerson, id: string) =>
  (await images.send(who, "GET", `/images/deletions/${id}`)).body;
const erased = (who: TestPerson, id: string) =>
  eventually(async () => {
    const receipt = await receiptOf(who, id);
    return receipt.status === "erased" && receipt;
  });

test("a deleted image is 404 immediately, with a receipt once its bytes are erased", async () => {
  const who = testPerson();
  const { id, sha256, size_bytes } = await uploaded(who);
  const shown = await images.send(null, "GET", `/images/${id}/content?width=90`);
  await eventually(async () => (await keysOf(who)).length === 2);
  assert.equal((await images.send(who, "GET", `/images/deletions/${id}`)).status, 404, "nothing was deleted yet");
  assert.equal((await images.send(who, "DELETE", `/images/${id}`)).status, 204);
  for (const path of ["", "/content", "/content?width=90", "/original"])
    assert.equal((await images.send(who, "GET", `/images/${id}${path}`)).status, 404, path);

  const receipt = await erased(who, id);
  assert.deepEqual(await keysOf(who), []);
  assert.deepEqual(receipt, {
    image_id: id,
    account_id: who.accountId,
    sha256,
    status: "erased",
    kept: null,
    erased_objects: 2,
    deleted_at: receipt.deleted_at,
    erased_at: receipt.erased_at,
    erased_bytes: size_bytes + shown.bytes.length,
  });
  assert.ok(receipt.erased_at >= receipt.deleted_at);
  const [event] = await images.eventsOf(who.accountId, 1, "image.erased");
  assert.deepEqual(event?.data, { ...receipt, changed: [] });
  const entries = (await images.auditOf(who.accountId, 3)) as unknown as { data: { action: string } }[];
  assert.deepEqual(entries.map(({ data }) => data.action).slice(1), ["image.delete", "image.erase"]);
  assert.equal((await images.send(testPerson(), "GET", `/images/deletions/${id}`)).status, 404, "only the owner's");
});

test("bytes that another image of the account needs stay, as the receipt says", async () => {
  const [who, other] = [testPerson(), testPerson()];
  const [one, two, theirs] = [await uploaded(who), await uploaded(who), await uploaded(other)];
  await images.send(who, "DELETE", `/images/${one.id}`);
  const first = await erased(who, one.id);
  assert.deepEqual([first.kept, first.erased_bytes, first.erased_objects], ["shared_with_another_image", 0, 0]);
  assert.equal((await images.send(who, "GET", `/images/${two.id}/original`)).status, 200);
  await images.send(who, "DELETE", `/images/${two.id}`);
  assert.equal((await erased(who, two.id)).erased_objects, 1);
  assert.deepEqual(await keysOf(who), []);
  assert.equal((await images.send(other, "GET", `/images/${theirs.id}/original`)).status, 200);
});

test("renditions stored by the worker after the erasure are removed too", async () => {
  const who = testPerson();
  const { id } = await uploaded(who);
  const [job] = await images.eventsOf(who.accountId, 1, "image.render_requested");
  const data = job?.data as { job_id: string; renditions: { name: string; key: string }[] };
  await images.send(who, "DELETE", `/images/${id}`);
  await erased(who, id);
  const [late] = data.renditions;
  assert.ok(late);
  await images.putBlob(late.key, Buffer.from("late"));
  const stored = { name: late.name, key: late.key, mime_type: "image/jpeg", width: 1, height: 1, size_bytes: 4 };
  const answer = {
    job_id: data.job_id,
    image_id: id,
    attempt: 1,
    outcome: "rendered" as const,
    placeholder: null,
    failure: null,
    duration_ms: 1,
    renditions: [{ ...stored, sha256: "0".repeat(64) }],
  };
  await images.publish(draft("image.rendered", { subject: id, accountId: who.accountId, data: answer }));
  await eventually(async () => (await keysOf(who)).length === 0);
});

test("an erasure that crashes at any step is finished by the next one, with a correct receipt", async () => {
  const inside = await openInside();
  try {
    const { pool, objects, imageStore } = inside;
    const { clock } = inside.context;
    const put = (key: string, size: number) => objects.put(key, Buffer.alloc(size), { size, contentType: "image/png" });
    const steps = ["list", "delete 0", "delete 1", "delete 2", "receipt", "event"];
    for (const dies of steps) {
      const original = { accountId: "acc_1", sha256: newId("x").padEnd(64, "0") };
      const { sha256 } = original;
      const image = imageRecord({ id: newId("img"), sha256 });
      await touchBlob(pool, { ...original, sizeBytes: 100, mimeType: "image/png" }, clock.now());
      await put(`originals/acc_1/${sha256}`, 100);
      for (const [name, size] of [
        ["w1.png", 10],
        ["w2.png", 20],
      ] as const) {
        const key = `renditions/acc_1/${sha256}/${name}`;
        await put(key, size);
        const stored = { name: null, key, mime_type: "image/png", width: 1, height: 1, size_bytes: size };
        await saveRendition(pool, original, stored, clock.now());
      }
      await inside.insert([image]);
      await inTransaction(pool, async (tx) => {
        await imageStore.remove(tx, [image.id]);
        const deleted = { deletedBy: "acc_1 key_1", deletedAt: clock.now() };
        await insertDeletion(tx, { imageId: image.id, ...original, ...deleted });
      });

      let deletes = 0;
      const die = (step: string) => {
        if (step === dies) throw new Error(`died at ${step}`);
      };
      const dying = {
        ...objects,
        list: async (...given: Parameters<typeof objects.list>) => {
          die("list");
          return objects.list(...given);
        },
        delete: async (key: string) => {
          die(`delete ${deletes++}`);
          return objects.delete(key);
        },
      };
      const outbox = (append: () => void) => ({
        append: async () => {
          append();
          return [];
        },
      });
      // The receipt has the time, so that its writing is where the clock is read.
      const now = () => {
        die("receipt");
        return clock.now();
      };
      const broken = serviceWith<ImagesService>({
        pool,
        objects: dying,
        clock: { now },
        outbox: outbox(() => die("event")),
      });
      await assert.rejects(eraseNextImage(broken), /died at/, dies);
      assert.equal((await findDeletion(pool, image.id))?.erasedAt, null, dies);
      const whole = serviceWith<ImagesService>({ pool, objects, clock, outbox: outbox(() => {}) });
      assert.equal(await eraseNextImage(whole), true);
      assert.equal(await eraseNextImage(whole), false, "once");
      const receipt = await findDeletion(pool, image.id);
      assert.deepEqual([receipt?.erasedBytes, receipt?.erasedObjects], [130n, 3], dies);
      for (const prefix of ["originals/", "renditions/"])
        assert.deepEqual((await objects.list(prefix, { limit: 9 })).objects, [], dies);
    }
  } finally {
    await inside.close();
  }
});
