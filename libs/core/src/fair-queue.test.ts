import assert from "node:assert/strict";
import { test } from "node:test";
import { FairQueue } from "./fair-queue.ts";

function rest(queue: FairQueue<string>): string[] {
  const items: string[] = [];
  for (let item = queue.next(); item !== undefined; item = queue.next()) items.push(item);
  return items;
}

test("turns go round the callers, whose own items keep their order", () => {
  const queue = new FairQueue<string>();
  for (const item of ["a1", "a2", "a3", "b1", "c1", "b2"]) queue.add(item.charAt(0), item);
  assert.deepEqual(rest(queue), ["a1", "b1", "c1", "a2", "b2", "a3"]);
});

test("a caller who comes late waits for one item of another's hundred at most", () => {
  const queue = new FairQueue<string>();
  for (let at = 0; at < 100; at++) queue.add("a", `a${at}`);
  queue.next();
  queue.add("b", "b");
  assert.equal(rest(queue).indexOf("b"), 1);
});

test("a full queue lets go of the last item of the longest line", () => {
  const queue = new FairQueue<string>(3);
  for (const item of ["a1", "a2", "a3"]) assert.equal(queue.add("a", item), null);
  assert.equal(queue.add("b", "b1"), "a3");
  assert.equal(queue.length, 3);
  assert.deepEqual(rest(queue), ["a1", "b1", "a2"]);
});

test("a full queue refuses a new item where no line is longer than its own", () => {
  const queue = new FairQueue<string>(2);
  queue.add("a", "a1");
  queue.add("b", "b1");
  assert.equal(queue.add("a", "a2"), "a2");
  assert.equal(queue.add("c", "c1"), "c1");
  assert.deepEqual(rest(queue), ["a1", "b1"]);
});

test("a caller that may not go keeps its place for its next turn", () => {
  const queue = new FairQueue<string>();
  for (const item of ["a1", "b1", "b2"]) queue.add(item.charAt(0), item);
  assert.equal(
    queue.next((caller) => caller !== "a"),
    "b1",
  );
  assert.deepEqual(rest(queue), ["a1", "b2"]);
});

test("an item that leaves before its turn is passed over", () => {
  const queue = new FairQueue<string>();
  for (const item of ["a1", "a2", "b1"]) queue.add(item.charAt(0), item);
  assert.ok(queue.remove("b", "b1"));
  assert.equal(queue.remove("b", "b1"), false);
  assert.deepEqual([queue.length, rest(queue)], [2, ["a1", "a2"]]);
});
