import assert from "node:assert/strict";
import { test } from "node:test";
import { createShardQueue } from "./shard-queue.ts";

const nothing = Symbol("nothing yet");
const soon = <T>(taken: Promise<T>) => Promise.race([taken, new Promise((resolve) => setImmediate(resolve, nothing))]);

test("shards share a page; those signalled meanwhile share the next one", async () => {
  const queue = createShardQueue();
  queue.add([3]);
  assert.deepEqual(await queue.take(), [3]);

  queue.add([5, 3, 1]);
  const next = queue.take();
  assert.equal(await soon(next), nothing, "one page of many shards at a time");
  queue.done([3], "emptied");
  assert.deepEqual(await next, [1, 3, 5]);
});

test("a shard with more than a page is taken alone until it is empty", async () => {
  const queue = createShardQueue();
  queue.add([1, 2]);
  queue.done((await queue.take()) ?? [], "more");
  assert.deepEqual([await queue.take(), await queue.take()], [[1], [2]]);

  queue.add([3, 4]);
  assert.deepEqual(await queue.take(), [3, 4], "the others still travel together");
  queue.done([1], "more");
  assert.deepEqual(await queue.take(), [1]);
  queue.done([1], "emptied");
  queue.done([3, 4], "emptied");
  queue.add([1, 3]);
  assert.deepEqual(await queue.take(), [1, 3]);
});

test("a shard that was left waits for its next signal, then is taken alone", async () => {
  const queue = createShardQueue();
  queue.add([6]);
  queue.done((await queue.take()) ?? [], "left");
  const next = queue.take();
  assert.equal(await soon(next), nothing);
  queue.add([7, 6]);
  assert.deepEqual(await next, [6]);
  assert.deepEqual(await queue.take(), [7]);
});

test("closing releases waiting lanes", async () => {
  const queue = createShardQueue();
  const waiting = queue.take();
  queue.close();
  assert.equal(await waiting, undefined);
  assert.equal(await queue.take(), undefined);
});

test("failing shards leave half of the lanes to the others while they pause", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const queue = createShardQueue();
  queue.add([0, 1, 2, 3]);
  queue.done((await queue.take()) ?? [], "more");
  for (const shard of [0, 1, 2]) {
    assert.deepEqual(await queue.take(), [shard]);
    queue.done([shard], "failed");
  }
  const lanes = [queue.take(), queue.take(), queue.take(), queue.take()];
  assert.deepEqual(await lanes[0], [3], "the others go on at once");
  assert.equal(await soon(lanes[1] as Promise<unknown>), nothing, "who failed rests");

  t.mock.timers.tick(2_000);
  assert.deepEqual([...(await Promise.all(lanes.slice(1, 3)))].flat().length, 2);
  assert.equal(await soon(lanes[3] as Promise<unknown>), nothing, "two lanes for those that fail");
  queue.add([7]);
  assert.deepEqual(await lanes[3], [7]);
  queue.close();
});
