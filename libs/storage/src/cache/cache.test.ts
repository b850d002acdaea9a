import assert from "node:assert/strict";
import { after, before, it, test } from "node:test";
import { createManualClock } from "@signalbox/core";
import { testContext } from "@signalbox/testing";
import { cacheContract } from "./cache.contract.ts";
import type { Cache } from "./cache.ts";
import { Copies } from "./copies.ts";
import { LruStore } from "./memory-cache.ts";
import { openCache } from "./open-cache.ts";

const context = testContext("images", {});
let cache: Cache;
before(async () => {
  cache = await openCache({ url: "memory:", ...context });
});
after(context.close);

cacheContract("memory", () => ({ cache, other: cache }));

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

test("a read that overlaps a change is not cached", async () => {
  const slow = Promise.withResolvers<string>();
  const answers = [slow.promise, Promise.resolve("new")];
  const copies = new Copies(() => answers.shift() ?? Promise.resolve(null), limits);
  const early = copies.find("one");
  copies.forgetAfter(atOnce, ["one"]);
  slow.resolve("old");
  assert.equal(await early, "old");
  assert.equal(await copies.find("one"), "new");
});

test("a value counts as the copy from its read until a change, also one during the read", async () => {
  const slow = Promise.withResolvers<object>();
  const [first, second] = [{}, {}];
  const answers = [slow.promise, Promise.resolve(second)];
  const copies = new Copies(() => answers.shift() as Promise<object>, limits);
  const early = copies.find("one");
  assert.equal(copies.holds("one", first), false, "not read yet");
  copies.forgetAfter(atOnce, ["one"]);
  slow.resolve(first);
  assert.equal(copies.holds("one", await early), false);
  assert.equal(copies.holds("one", await copies.find("one")), true);
  assert.equal(copies.holds("one", first), false);
  copies.forgetAfter(atOnce, ["one"]);
  assert.equal(copies.holds("one", second), false);
});

test("a copy in use is refreshed before it expires, replaced only by a different value", async () => {
  const [first, other] = [{ name: "one" }, { name: "other" }];
  const answers: (object | null | Error)[] = [first, { name: "one" }, new Error("away"), other, null];
  let reads = 0;
  const read = async () => {
    const answer = answers[reads++];
    if (answer instanceof Error) throw answer;
    return answer ?? null;
  };
  const copies = new Copies<object | null>(read, { ...limits, refreshMs: 0 });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  assert.equal(await copies.find("one"), first);
  assert.equal(copies.holds("one", first), true);
  await turn();
  assert.equal(await copies.find("one"), first, "equal, so the same");
  assert.equal(copies.holds("one", first), true);
  await turn();
  assert.equal(copies.holds("one", first), true, "the read failed");
  assert.equal(reads, 3, "once for a copy");
  copies.forgetAfter(atOnce, ["one"]);
  assert.equal(await copies.find("one"), other);
  assert.equal(copies.holds("one", other), true);
  await turn();
  assert.equal(copies.holds("one", other), false, "gone");
});

test("a change during the second read of a copy is not undone by it", async () => {
  const late = Promise.withResolvers<object>();
  const [first, changed] = [{ name: "one" }, { name: "changed" }];
  const answers = [Promise.resolve(first), late.promise, Promise.resolve(changed)];
  const copies = new Copies<object>(() => answers.shift() as Promise<object>, { ...limits, refreshMs: 0 });
  await copies.find("one");
  assert.equal(copies.holds("one", first), true);
  copies.forgetAfter(atOnce, ["one"]);
  const found = copies.find("one");
  late.resolve({ name: "stale" });
  assert.equal(await found, changed);
  assert.equal(await copies.find("one"), changed);
});

test("neither a failure nor an absence is cached", async () => {
  const answers = [Promise.reject(new Error("away")), Promise.resolve(null), Promise.resolve("here")];
  const copies = new Copies(() => answers.shift() as Promise<string | null>, limits);
  await assert.rejects(copies.find("one"), /away/);
  assert.equal(await copies.find("one"), null);
  assert.equal(await copies.find("one"), "here");
});

const bytes = (count: number) => ({ bytes: count, expiresInMs: 1_000 });
const value = (store: { get(key: string): string | undefined }, keys: string[]) =>
  keys.map((key) => store.get(key) ?? null);

it("evicts the least recently used first when it is full", () => {
  const store = new LruStore<string>(3_500, createManualClock());
  for (const key of ["a", "b", "c"]) store.set(key, key, bytes(1_000));
  store.get("a");
  store.set("d", "d", bytes(1_000));
  assert.deepEqual(value(store, ["a", "b", "c", "d"]), ["a", null, "c", "d"]);
});

it("never exceeds its bound, for any values or replacements", () => {
  const store = new LruStore<string>(10_000, createManualClock());
  for (let turn = 0; turn < 1_000; turn++) store.set(`key ${turn % 50}`, "x", bytes((turn * 37) % 3_000));
  const held = Array.from({ length: 50 }, (_, key) => store.get(`key ${key}`)).filter((found) => found !== undefined);
  assert.ok(held.length > 0 && held.length <= 100);
});

it("drops the old value when its replacement alone exceeds the bound", () => {
  const store = new LruStore<string>(1_000, createManualClock());
  store.set("a", "old", bytes(10));
  store.set("b", "b", bytes(10));
  store.set("a", "new", bytes(5_000));
  assert.deepEqual(value(store, ["a", "b"]), [null, "b"]);
});

it("removes expired entries, to the millisecond", () => {
  const clock = createManualClock();
  const store = new LruStore<string>(1_000, clock);
  store.set("a", "a", bytes(10));
  clock.advance(999);
  assert.deepEqual([store.get("a"), store.expiresInMs("a")], ["a", 1]);
  clock.advance(1);
  assert.deepEqual([store.get("a"), store.expiresInMs("a")], [undefined, 0]);
});
