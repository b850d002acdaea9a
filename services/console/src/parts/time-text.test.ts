import assert from "node:assert/strict";
import { test } from "node:test";
import { durationText, exactTime, percentOf, relativeTime, shareText } from "./time-text.ts";

const now = Date.parse("2026-11-26T12:00:00Z");

test("a time is told by its distance, in the largest unit that fits, both ways", () => {
  assert.equal(relativeTime("2026-11-26T11:57:00Z", now), "3 minutes ago");
  assert.equal(relativeTime("2026-11-26T14:00:00Z", now), "in 2 hours");
  assert.equal(relativeTime("2026-11-24T12:00:00Z", now), "2 days ago");
  assert.equal(relativeTime("2026-11-26T12:00:00Z", now), "now");
});

test("durations have the unit that a person would use", () => {
  assert.deepEqual([12.4, 1234, 125_000, 18_000_000].map(durationText), ["12 ms", "1.2 s", "2 min", "5 h"]);
});

test("a share that misses one of many is not shown as all", () => {
  assert.equal(percentOf(99_999, 100_000), "99.9 %");
  assert.equal(percentOf(100, 100), "100 %");
});

test("a single attempt has no share in percent", () => {
  assert.equal(shareText(1, 1), "1 attempt, delivered");
  assert.equal(shareText(0, 1), "1 attempt, failed");
  assert.equal(shareText(9_990, 10_000), "99.9 % of 10,000 attempts delivered");
  assert.equal(shareText(0, 0), "no attempts");
});

test("an exact time has its zone, in the zone or by the clock that a person chose", () => {
  const at = "2026-11-26T15:04:05.678Z";
  assert.equal(exactTime(at, { zone: "utc", clock: "24" }), "Nov 26, 2026, 15:04:05 UTC");
  assert.equal(exactTime(at, { zone: "utc", clock: "12" }).replaceAll("\u202f", " "), "Nov 26, 2026, 03:04:05 PM UTC");
  assert.equal(exactTime(at, { zone: "utc", clock: "24" }, true), "Nov 26, 2026, 15:04:05.678 UTC");
});
