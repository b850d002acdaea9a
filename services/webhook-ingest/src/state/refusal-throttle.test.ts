import assert from "node:assert/strict";
import { test } from "node:test";
import { RefusalThrottle } from "./refusal-throttle.ts";

/** Event loop that turns by hand. */
function handLoop() {
  const asked: (() => void)[] = [];
  const left: number[] = [];
  const throttle = new RefusalThrottle((next) => void asked.push(next));
  return {
    left,
    refuse: (nth: number) => void throttle.place().then(() => left.push(nth)),
    /** Lets what may leave now do so. */
    settle: () => new Promise(setImmediate),
    async turn() {
      for (const next of asked.splice(0)) next();
      await this.settle();
    },
  };
}

test("a refusal leaves at once where no other waits", async () => {
  const loop = handLoop();
  loop.refuse(1);
  await loop.settle();
  assert.deepEqual(loop.left, [1]);
});

test("a flood of refusals leaves in the order of its arrival, a few in each turn of the event loop", async () => {
  const loop = handLoop();
  for (let nth = 1; nth <= 10; nth++) loop.refuse(nth);
  await loop.settle();
  assert.deepEqual(loop.left, [1, 2, 3, 4]);
  await loop.turn();
  // Posted on a connection whose refusal has just left.
  loop.refuse(11);
  await loop.settle();
  assert.deepEqual(loop.left, [1, 2, 3, 4, 5, 6, 7, 8]);
  await loop.turn();
  assert.deepEqual(loop.left, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  await loop.turn();
  loop.refuse(12);
  await loop.settle();
  assert.equal(loop.left.at(-1), 12);
});
