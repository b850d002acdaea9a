import assert from "node:assert/strict";
import { test } from "node:test";
import { createManualClock, hours, MiB, minutes } from "@signalbox/core";
import {
  childProcesses,
  eventually,
  killProcess,
  processorMsOfChildren,
  readFixture,
  testPerson,
} from "@signalbox/testing";
import { touchBlob } from "../src/blobs/blob-store.ts";
import { beginAttempt, endAttempt, isRenditionRefused, saveRendition } from "../src/blobs/rendition-store.ts";
import { startImages } from "./harness.ts";
import { openInside } from "./inside.ts";

/** Processor time that a decoder needs to start, with room. */
const startMs = 500;

/** Lists this process's image decoders that have been busy for half a second, without starting ones. */
const busyDecoders = () => childProcesses("image-process", { busyMs: startMs });

test("a small file that takes too much memory to decode is 422 with the reason", async () => {
  const who = testPerson();
  const roomy = await startImages({ "images.render.avif-pixels": 100_000_000 });
  const pixel = await readFixture("one-pixel.png");
  const { id } = (await roomy.upload(who, pixel)).body;
  const made = await roomy.send(who, "GET", `/images/${id}/content?width=4096&height=4096&enlarge=true&format=avif`);
  await roomy.close();
  assert.equal(made.status, 200);
  assert.ok(made.bytes.length < 20_000, String(made.bytes.length));

  const narrow = await startImages({ "images.render.memory-max": 128 * MiB });
  try {
    const [bomb, plain] = await Promise.all([narrow.upload(who, made.bytes), narrow.upload(who, pixel)]);
    assert.deepEqual([bomb.status, bomb.body.error.code, plain.status], [422, "validation_error", 201]);
    assert.match(bomb.body.error.message, /more memory or time/);
    assert.equal((await narrow.send(who, "GET", "/images")).body.items.length, 1);
  } finally {
    await narrow.close();
  }
});

test("a rendition that crashes its process is 503, or 422 once it crashed two", async () => {
  const who = testPerson();
  const images = await startImages({ "images.render.avif-pixels": 100_000_000, "images.render.memory": 0 });
  try {
    const { id } = (await images.upload(who, await readFixture("photo.jpg"))).body;
    const path = `/images/${id}/content?width=4000&enlarge=true&format=avif`;
    const killed = async () => {
      const answer = images.send(who, "GET", path);
      const state = { done: false };
      const ended = answer.finally(() => Object.assign(state, { done: true }));
      await eventually(async () => {
        for (const pid of await busyDecoders()) killProcess(pid);
        return state.done;
      });
      return ended;
    };
    const first = await killed();
    assert.deepEqual([first.status, first.body.error?.code], [503, "unavailable"]);
    assert.ok(Number(first.headers.get("retry-after")) > 0);
    const second = await killed();
    assert.deepEqual([second.status, second.body.error?.code], [422, "validation_error"]);
    assert.equal((await images.send(who, "GET", path)).status, 422, "it is not tried a third time");
    assert.equal((await images.send(who, "GET", `/images/${id}/content?width=150`)).status, 200);
  } finally {
    await images.close();
  }
});

test("a rendition that is too slow for its request is 503 in time, then left to the worker", async () => {
  const who = testPerson();
  const images = await startImages({ "images.render.avif-pixels": 100_000_000, "limits.requestTimeoutSeconds": 8 });
  try {
    const { id } = (await images.upload(who, await readFixture("photo.jpg"))).body;
    const path = `/images/${id}/content?width=2000&enlarge=true&format=avif`;
    const before = await processorMsOfChildren("image-process");
    const slow = images.send(who, "GET", path);
    const pid = await eventually(async () => {
      const now = await processorMsOfChildren("image-process");
      return [...now].find(([id, usedMs]) => usedMs >= (before.get(id) ?? startMs) + 100)?.[0] ?? false;
    });
    process.kill(pid, "SIGSTOP");
    for (const { status, body, headers } of [await slow, await images.send(who, "GET", path)]) {
      assert.deepEqual([status, body.error?.code], [503, "unavailable"]);
      assert.ok(Number(headers.get("retry-after")) > 0);
    }
    const jobs = (await images.eventsOf(who.accountId, 3)).filter(({ name }) => name === "image.render_requested");
    assert.equal(jobs.length, 2, "one for the named variants, one for the slow rendition");
    // Another process has to start, which takes a busy machine longer than the eight seconds. A form that was too slow
    // is left to the worker, which is not here: each attempt asks for one of its own.
    let width = 150;
    await eventually(
      async () => (await images.send(who, "GET", `/images/${id}/content?width=${width++}`)).status === 200,
    );
  } finally {
    await images.close();
  }
});

test("an attempt is recorded before it starts, so a crash counts for an hour", async () => {
  const inside = await openInside();
  try {
    const clock = createManualClock();
    const { pool } = inside;
    const of = { accountId: "acc_1", sha256: "a".repeat(64) };
    await touchBlob(pool, { ...of, sizeBytes: 1, mimeType: "image/png" }, clock.now());
    const begin = (key: string) => beginAttempt(pool, key, of, clock.now());
    assert.deepEqual([await begin("k1"), await begin("k1"), await begin("k1")], [1, 2, null]);
    assert.equal(await isRenditionRefused(pool, "k1", clock.now()), true);
    assert.equal(await begin("k2"), 1, "another key is not to blame");
    await endAttempt(pool, "k2");
    assert.equal(await begin("k2"), 1, "an ended attempt does not count");
    clock.advance(hours(1) + minutes(1));
    assert.equal(await isRenditionRefused(pool, "k1", clock.now()), false);
    assert.equal(await begin("k1"), 1);
    const stored = { name: null, key: "k1", mime_type: "image/png", width: 1, height: 1, size_bytes: 1 };
    await saveRendition(pool, of, stored, clock.now());
    assert.equal(await begin("k1"), 1, "a success resets the count");
  } finally {
    await inside.close();
  }
});
