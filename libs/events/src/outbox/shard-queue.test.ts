import assert from "node:assert/strict";
import { test } from "node:test";
import { createShardQueue } from "./shard-queue.ts";

test("a shard is worked on by one lane at a time and comes again when it was signalled meanwhile", async () => {
  const queue = createShardQueue();
  queue.add([3]);
  assert.equal(await queue.take(), 3);

  queue.add([3, 3, 5]);
  assert.equal(await queue.take(), 5, "shard 3 is busy");
  const next = queue.take();
  queue.done(3);
  assert.equal(await next, 3);
});

test("closing lets waiting lanes go", async () => {
  const queue = createShardQueue();
  const waiting = queue.take();
  queue.close();
  assert.equal(await waiting, undefined);
  assert.equal(await queue.take(), undefined);
});
