import assert from "node:assert/strict";
import { test } from "node:test";
import { LaneLimit } from "./lane-limit.ts";

const success = { overloaded: false, succeeded: true, durationMs: 20, startedMs: 0, endedMs: 20 };
const timeout = (startedMs: number) => ({
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
