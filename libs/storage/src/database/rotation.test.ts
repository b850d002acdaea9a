import assert from "node:assert/strict";
import { test } from "node:test";
import { hours } from "@signalbox/core";
import { type Ending, isLive, rotate } from "./rotation.ts";

const now = new Date("2026-01-01T00:00:00.000Z");
const after = (ms: number): Date => new Date(now.getTime() + ms);
const rotated = (ends: (Date | null)[], overlapMs: number, max = 3) => {
  const result = rotate(
    ends.map((endsAt): Ending => ({ endsAt })),
    { max, overlapMs, now },
  );
  return result.outcome === "rotated" ? result.older.map(({ endsAt }) => endsAt) : `at most ${result.max}`;
};

test("a rotation gives the newest value its overlap, leaving earlier ends alone", () => {
  assert.deepEqual(rotated([null], hours(1)), [after(hours(1))]);
  assert.deepEqual(rotated([null, after(hours(9))], hours(1)), [after(hours(1)), after(hours(9))]);
});

test("a value that was made to end never ends later than that", () => {
  assert.deepEqual(rotated([after(hours(1))], hours(2)), [after(hours(1))]);
  assert.deepEqual(rotated([after(hours(3))], hours(2)), [after(hours(2))]);
});

test("without an overlap every older value ends, at the limit too", () => {
  assert.deepEqual(rotated([null, after(1), after(2)], 0), []);
  assert.deepEqual(rotated([null], 0, 0), []);
});

test("more live values than the limit are refused, ended ones not counted", () => {
  assert.equal(rotated([null, after(1), after(2)], 1), "at most 3");
  assert.deepEqual(rotated([null, after(1), now], hours(1)), [after(hours(1)), after(1)]);
});

test("a value is live until its end", () => {
  assert.deepEqual(
    [null, after(1), now].map((endsAt) => isLive({ endsAt }, now)),
    [true, true, false],
  );
});
