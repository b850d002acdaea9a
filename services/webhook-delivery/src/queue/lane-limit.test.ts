import assert from "node:assert/strict";
import { test } from "node:test";
import { LaneLimit } from "./lane-limit.ts";

const success = { refused: false, overloaded: false, succeeded: true, durationMs: 20, startedMs: 0, endedMs: 20 };
const timeout = (startedMs: number) => ({
  refused: false,
  overloaded: true,
  succeeded: false,
  durationMs: 15_000,
  startedMs,
  endedMs: startedMs + 15_000,
});

test("the limit of an endpoint that keeps up grows to its bound", () => {
  const limit = new LaneLimit(18);
  assert.equal(limit.value, 16);
  for (let count = 0; count < 5; count++) limit.observe(success, true);
  assert.equal(limit.value, 18);
  limit.max = 2;
  assert.equal(limit.value, 2);
});

test("a limit that is not reached does not grow", () => {
  const limit = new LaneLimit(64);
  for (let count = 0; count < 100; count++) limit.observe(success, false);
  assert.equal(limit.value, 16);
});

test("concurrent timeouts halve the limit once, down to one, and a success ends the slow state", () => {
  const limit = new LaneLimit(64);
  for (let count = 0; count < 16; count++) limit.observe(timeout(0), true);
  assert.equal(limit.value, 8);
  assert.equal(limit.isSlow, true);
  for (let turn = 1; turn < 6; turn++) limit.observe(timeout(turn * 15_000), true);
  assert.equal(limit.value, 1);
  for (let count = 0; count < 32; count++) limit.observe(success, true);
  assert.equal(limit.isSlow, false);
  assert.equal(limit.value, 33);
});

test("a 429 halves the limit without making the endpoint slow", () => {
  const limit = new LaneLimit(64);
  limit.observe({ ...success, overloaded: true, succeeded: false }, true);
  assert.deepEqual([limit.value, limit.isSlow], [8, false]);
});

test("an endpoint that refuses connections is tried ever less often, and one answer ends that", () => {
  const limit = new LaneLimit(64);
  const refused = (atMs: number) =>
    limit.observe(
      { refused: true, overloaded: false, succeeded: false, durationMs: 1, startedMs: atMs, endedMs: atMs },
      true,
    );
  for (let count = 0; count < 8; count++) refused(0);
  assert.deepEqual([limit.restMs(0), limit.value], [0, 16]);
  refused(0);
  assert.deepEqual([limit.restMs(0), limit.value], [100, 1]);
  refused(50);
  assert.equal(limit.restMs(50), 50, "an attempt that was under way does not prolong the rest");
  const rests = Array.from({ length: 7 }, (_, turn) => {
    refused(turn * 10_000 + 100);
    return limit.restMs(turn * 10_000 + 100);
  });
  assert.deepEqual(rests, [200, 400, 800, 1_600, 2_000, 2_000, 2_000]);
  limit.observe(success, true);
  refused(100_000);
  assert.deepEqual([limit.restMs(100_000), limit.value], [0, 17]);
});
