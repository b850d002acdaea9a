import assert from "node:assert/strict";
import { test } from "node:test";
import { Copies } from "./copies.ts";

/** A transaction whose commit hooks run immediately. */
const atOnce = { afterCommit: (hook: () => void) => hook() };
const limits = { max: 10, ttlMs: 60_000 };

test("concurrent requests for a value read it once, until it is changed", async () => {
  const reads: string[] = [];
  const copies = new Copies(async (key) => `${key}, read ${reads.push(key)}`, limits);
  await Promise.all(Array.from({ length: 20 }, () => copies.find("one")));
  assert.deepEqual(reads, ["one"]);
  copies.forgetAfter(atOnce, ["one"]);
  assert.equal(await copies.find("one"), "one, read 2");
});

test("a read that started before a change and ends after it is not cached", async () => {
  const slow = Promise.withResolvers<string>();
  const answers = [slow.promise, Promise.resolve("new")];
  const copies = new Copies(() => answers.shift() ?? Promise.resolve(null), limits);
  const early = copies.find("one");
  copies.forgetAfter(atOnce, ["one"]);
  slow.resolve("old");
  assert.equal(await early, "old");
  assert.equal(await copies.find("one"), "new");
});

test("neither a failure nor an absence is cached", async () => {
  const answers = [Promise.reject(new Error("away")), Promise.resolve(null), Promise.resolve("here")];
  const copies = new Copies(() => answers.shift() as Promise<string | null>, limits);
  await assert.rejects(copies.find("one"), /away/);
  assert.equal(await copies.find("one"), null);
  assert.equal(await copies.find("one"), "here");
});
