import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { systemClock } from "@signalbox/core";
import { eventually } from "@signalbox/testing";
import "./idle-timers.ts";

const RequestQueue = createRequire(import.meta.url)("kafkajs/src/network/requestQueue/index.js");

function queue(pending: readonly string[], throttledMs: number) {
  let checks = 0;
  const throttledUntil = systemClock.nowMs() + throttledMs;
  const state = { pending, throttledUntil, checkPendingRequests: () => checks++ };
  const made = Object.assign(Object.create(RequestQueue.prototype), state);
  made.scheduleCheckPendingRequests();
  return { made, checks: () => checks };
}

test("an idle connection has no timer", () => {
  assert.equal(queue([], -1).made.throttleCheckTimeoutId, undefined);
});

for (const [what, pending, throttledMs] of [
  ["a waiting request is checked", ["request"], -1],
  ["the queue is checked once a throttle has passed", [], 5],
] as const) {
  test(what, async () => {
    const { made, checks } = queue(pending, throttledMs);
    await eventually(() => checks() === 1);
    assert.equal(made.throttleCheckTimeoutId, null);
  });
}
