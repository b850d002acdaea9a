import assert from "node:assert/strict";
import { test } from "node:test";
import { hours, minutes } from "@signalbox/core";
import { pauseAfter } from "./scheduled-backup.ts";

test("the next backup begins an interval after the last one began, at once when that took longer", () => {
  assert.equal(pauseAfter(true, hours(1), minutes(10)), minutes(50));
  assert.equal(pauseAfter(true, hours(1), minutes(70)), 0);
});

test("one that failed is tried again after a minute, as when the engines start beside it", () => {
  assert.equal(pauseAfter(false, hours(1), minutes(10)), minutes(1));
  assert.equal(pauseAfter(false, 5_000, 1_000), 4_000, "a shorter interval stays");
});
