import assert from "node:assert/strict";
import { it } from "node:test";
import { createManualClock } from "@signalbox/core";
import { LruStore } from "./lru-store.ts";

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

it("never exceeds its bound, for any values and replacements", () => {
  const store = new LruStore<string>(10_000, createManualClock());
  for (let turn = 0; turn < 1_000; turn++) store.set(`key ${turn % 50}`, "x", bytes((turn * 37) % 3_000));
  const held = Array.from({ length: 50 }, (_, key) => store.get(`key ${key}`)).filter((found) => found !== undefined);
  assert.ok(held.length > 0 && held.length <= 100);
});

it("does not store an entry that exceeds the bound alone, and then removes the old value", () => {
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
