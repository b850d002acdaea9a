import assert from "node:assert/strict";
import { test } from "node:test";
import { drainFactor } from "./drain-rate.ts";

test("the drain rate grows while an endpoint answers well", () => {
  assert.ok(drainFactor(20, { succeeded: 20, failed: 0, isSlow: false }) > 1);
});

test("the drain rate is cut when an endpoint fails", () => {
  assert.ok(drainFactor(20, { succeeded: 10, failed: 10, isSlow: false }) < 1);
  assert.ok(drainFactor(20, { succeeded: 0, failed: 1, isSlow: false }) < 1);
});

test("the drain rate stays for few failures, slow answers, and a rate that is not used", () => {
  assert.equal(drainFactor(20, { succeeded: 19, failed: 1, isSlow: false }), 1);
  assert.equal(drainFactor(20, { succeeded: 20, failed: 0, isSlow: true }), 1);
  assert.equal(drainFactor(100, { succeeded: 3, failed: 0, isSlow: false }), 1);
});
