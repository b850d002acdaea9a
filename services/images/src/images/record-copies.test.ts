import assert from "node:assert/strict";
import { test } from "node:test";
import type { Image } from "./image.ts";
import { RecordCopies } from "./record-copies.ts";

/** A transaction whose commit hooks run immediately. */
const atOnce = { afterCommit: (hook: () => void) => hook() };
const record = (title: string) => ({ title }) as Image;

test("concurrent requests for a record read it once, until it is changed", async () => {
  const reads: string[] = [];
  const copies = new RecordCopies(async (id) => {
    reads.push(id);
    return record(`read ${reads.length}`);
  });
  await Promise.all(Array.from({ length: 20 }, () => copies.find("img_1")));
  assert.deepEqual(reads, ["img_1"]);
  copies.forgetAfter(atOnce, ["img_1"]);
  assert.equal((await copies.find("img_1"))?.title, "read 2");
});

test("a read that started before a change and ends after it is not cached", async () => {
  const slow = Promise.withResolvers<Image>();
  const answers = [slow.promise, Promise.resolve(record("new"))];
  const copies = new RecordCopies(() => answers.shift() ?? Promise.resolve(null));
  const early = copies.find("img_1");
  copies.forgetAfter(atOnce, ["img_1"]);
  slow.resolve(record("old"));
  assert.equal((await early)?.title, "old");
  assert.equal((await copies.find("img_1"))?.title, "new");
});

test("neither a failure nor an absence is cached", async () => {
  const answers = [Promise.reject(new Error("away")), Promise.resolve(null), Promise.resolve(record("here"))];
  const copies = new RecordCopies(() => answers.shift() as Promise<Image | null>);
  await assert.rejects(copies.find("img_1"), /away/);
  assert.equal(await copies.find("img_1"), null);
  assert.equal((await copies.find("img_1"))?.title, "here");
});
