import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { createManualClock, minutes } from "@signalbox/core";
import { bytes, notModified, refused } from "@signalbox/http";
import type { FreshEntry } from "@signalbox/service";
import { ServedCounter } from "./served-counter.ts";

const start = Date.parse("2026-03-01T00:00:59.999Z");
const firstMinute = start - 59_999;
const picture = (length: number) => bytes(Buffer.alloc(length), "image/png");

describe("the counter of answers", () => {
  const clock = createManualClock(new Date(start));
  let entries: FreshEntry[];
  let counter: ServedCounter;
  const shown = () =>
    entries.map(({ accountId, atMs, labels, counts }) => [
      accountId,
      (atMs - firstMinute) / minutes(1),
      labels[0],
      counts,
    ]);

  beforeEach(() => {
    clock.set(new Date(start));
    entries = [];
    counter = new ServedCounter(clock, (entry) => entries.push(entry));
  });

  it("hands on the sums of each account by form, once", () => {
    counter.counted("acc_1", "png", "GET", picture(5));
    counter.counted("acc_1", "png", "GET", picture(7));
    counter.counted("acc_1", "png", "GET", notModified('"a"'));
    counter.counted("acc_1", "original", "GET", picture(0));
    counter.counted("acc_2", "png", "GET", picture(1));
    counter.counted("acc_3", "png", "HEAD", picture(1));
    counter.counted("acc_3", "png", "GET", refused(416, "invalid_request"));
    counter.handOn();
    counter.handOn();
    assert.deepEqual(shown(), [
      ["acc_1", 0, "png", [0, 2, 1, 12]],
      ["acc_1", 0, "original", [0, 1, 0, 0]],
      ["acc_2", 0, "png", [0, 1, 0, 1]],
    ]);
  });

  it("keeps the minutes apart", () => {
    counter.counted("acc_1", "webp", "GET", picture(5));
    clock.set(new Date(start + 1));
    counter.counted("acc_1", "webp", "GET", picture(6));
    counter.handOn();
    assert.deepEqual(shown(), [
      ["acc_1", 0, "webp", [0, 1, 0, 5]],
      ["acc_1", 1, "webp", [0, 1, 0, 6]],
    ]);
  });

  it("hands accounts on early rather than hold more than ten thousand", () => {
    for (let account = 0; account < 10_001; account++) counter.counted(`acc_${account}`, "gif", "GET", picture(1));
    assert.equal(entries.length, 10_000);
    counter.handOn();
    assert.equal(new Set(entries.map(({ accountId }) => accountId)).size, 10_001);
  });
});
