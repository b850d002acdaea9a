import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { EventDraft } from "@signalbox/contracts";
import { createManualClock, hours, minutes } from "@signalbox/core";
import { sql, type Tx } from "@signalbox/storage";
import { serviceWith } from "@signalbox/testing";
import { touchBlob } from "../src/blobs/blob-store.ts";
import type { ImagesService } from "../src/context/images-service.ts";
import { reissueLostJobs } from "../src/renditions/variants.ts";
import { type Inside, imageRecord, openInside } from "./inside.ts";

let inside: Inside;
before(async () => {
  inside = await openInside();
});
after(() => inside.close());

test("a lost job is sent again at growing intervals until its image fails with the reason", async () => {
  const { configuration, pool, imageStore } = inside;
  const clock = createManualClock();
  const sent: EventDraft[] = [];
  const outbox = {
    async append(_tx: Tx, drafts: readonly EventDraft[]) {
      sent.push(...drafts);
      return [];
    },
  };
  const service = serviceWith<ImagesService>({ configuration, pool, imageStore, clock, outbox });
  const [lost, ready] = ["a", "b"].map((name) => name.repeat(64)) as [string, string];
  for (const sha256 of [lost, ready])
    await touchBlob(pool, { accountId: "acc_1", sha256, sizeBytes: 1, mimeType: "image/png" }, clock.now());
  const records = [
    imageRecord({ id: "img_lost", sha256: lost, createdAt: clock.now(), status: "processing" }),
    imageRecord({ id: "img_ready", sha256: ready, createdAt: clock.now(), status: "ready" }),
  ];
  await inside.insert(records);
  // Jobs use the database's clock, so their due time moves instead: by the default of `images.render.lost-after`.
  const fiveMinutesPass = sql("", "update images set render_due_at = render_due_at - interval '5 minutes'");

  assert.equal(await reissueLostJobs(service), 0, "before its time");
  const waits = [];
  for (let waited = 0; waited < hours(48); waited += minutes(5)) {
    await pool.query(fiveMinutesPass);
    if ((await reissueLostJobs(service)) > 0) waits.push((waited + minutes(5)) / minutes(1));
  }
  assert.deepEqual(waits.slice(0, 6), [5, 15, 35, 75, 135, 195]);
  assert.equal(sent.filter(({ name }) => name === "image.render_requested").length, 23);
  assert.deepEqual(
    sent.flatMap(({ name, data }) => (name === "image.processing_failed" ? [(data as { reason: string }).reason] : [])),
    ["lost"],
  );
  assert.equal((await imageStore.find("img_lost"))?.status, "failed");
  assert.equal((await imageStore.find("img_ready"))?.status, "ready");
});
