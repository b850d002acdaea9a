import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hours, minutes } from "@signalbox/core";
import fc from "fast-check";
import type { StoredFigures } from "./figures.ts";
import type { Bins } from "./histogram.ts";
import { bucketNames, bucketRangeOf, rangeFault } from "./statistics-range.ts";
import { summarize } from "./summarize.ts";

const now = Date.parse("2026-03-31T12:34:56.000Z");
const ago = (ms: number) => new Date(now - ms);
const iso = (ms: number) => new Date(ms).toISOString();

describe("the range of statistics", () => {
  it("is the last day by default, in whole buckets", () => {
    const { fromMs, toMs, period } = bucketRangeOf({ bucket: "1h" }, now);
    assert.deepEqual([iso(fromMs), iso(toMs), period], ["2026-03-30T12:00:00.000Z", "2026-03-31T13:00:00.000Z", 60]);
    const day = bucketRangeOf({ bucket: "1d", to: ago(hours(48)) }, now);
    assert.deepEqual([iso(day.fromMs), iso(day.toMs)], ["2026-03-28T00:00:00.000Z", "2026-03-30T00:00:00.000Z"]);
  });

  it("of any request that is not refused covers at most 1,500 whole buckets, each of whole rows", () => {
    const wanted = fc.record({
      from: fc.option(fc.nat(hours(24 * 40)).map(ago), { nil: undefined }),
      to: fc.option(fc.nat(hours(24 * 40)).map(ago), { nil: undefined }),
      bucket: fc.constantFrom(...bucketNames),
    });
    fc.assert(
      fc.property(wanted, (given) => {
        if (rangeFault(given, now) !== null) return;
        const { fromMs, toMs, bucketMs, period } = bucketRangeOf(given, now);
        assert.deepEqual([fromMs % bucketMs, toMs % bucketMs, bucketMs % minutes(period)], [0, 0, 0]);
        assert.ok(toMs > fromMs && (toMs - fromMs) / bucketMs <= 1_500);
        assert.ok(fromMs <= (given.from ?? given.to ?? ago(0)).getTime());
      }),
    );
  });

  it("may be 30 days to now, for a request that took a moment", () => {
    assert.equal(rangeFault({ from: ago(hours(24 * 30) + 5_000), bucket: "1d" }, now), null);
  });

  it("that is refused names the parameter to change", () => {
    const faults = [
      { from: ago(1), to: ago(2), bucket: "1h" },
      { from: ago(-1), bucket: "1h" },
      { from: ago(hours(24 * 31)), bucket: "1d" },
      { from: ago(hours(24 * 31)), to: ago(hours(24 * 30)), bucket: "1d" },
      { to: ago(hours(24 * 31)), bucket: "1d" },
      { from: ago(hours(48)), bucket: "1m" },
      { from: ago(hours(24 * 20)), bucket: "15m" },
    ] as const;
    assert.deepEqual(
      faults.map((wanted) => [rangeFault(wanted, now)?.field, rangeFault(wanted, now)?.code]),
      [
        ["from", "invalid"],
        ["from", "invalid"],
        ["from", "too_big"],
        ["from", "too_small"],
        ["to", "too_small"],
        ["bucket", "too_many"],
        ["bucket", "too_many"],
      ],
    );
  });
});

const bin7 = (count: number): Bins => ({ bytes: Uint8Array.of(7, count), from: 0, to: 2 });
const one = (labels: (string | null)[], count: number): StoredFigures => [labels, [count], bin7(count)];
const wanted = { bucketMs: 10, isGrouped: [true, false], filters: [undefined, undefined] };

describe("a summary of figures", () => {
  it("has the largest group first, leaving out of a bucket those without any", () => {
    const periods = [
      { atMs: 12, figures: [one(["a", "x"], 1), one(["b", null], 3)] },
      { atMs: 3, figures: [one(["a", "y"], 1)] },
      { atMs: 19, figures: [one(["a", "z"], 0)] },
    ];
    const { totals, items } = summarize(periods, wanted);
    assert.deepEqual(
      totals.map(({ labels, counts }) => [labels, counts]),
      [
        [["b", null], [3]],
        [["a", null], [2]],
      ],
    );
    assert.deepEqual(
      items.map(({ startMs, labels, sum }) => [startMs, labels[0], sum.counts[0], sum.histograms]),
      [
        [0, "a", 1, [bin7(1)]],
        [10, "b", 3, [bin7(3)]],
        [10, "a", 1, [bin7(1), bin7(0)]],
      ],
    );
  });

  it("keeps to a filter by a whole value or its beginning, where a missing label has none", () => {
    const figures = [one(["order.paid", null], 1), one(["order.sent", "y"], 2), one(["bill", "y"], 4)];
    const sumOf = (...filters: (string | undefined)[]) =>
      summarize([{ atMs: 0, figures }], { ...wanted, isGrouped: [false, false], filters }).totals[0]?.counts[0];
    assert.deepEqual(
      [sumOf("order.*"), sumOf("bill"), sumOf("order"), sumOf(undefined, "y"), sumOf("*", "*")],
      [3, 4, undefined, 6, 7],
    );
  });

  it("loses nothing beyond its bounds: the smaller groups are one, called other", () => {
    const figures = Array.from({ length: 70 }, (_, index) => one([`type.${index}`, null], index + 1));
    const many = summarize([{ atMs: 0, figures }], wanted).totals;
    assert.deepEqual([many.length, many[0]?.labels, many.at(-1)?.labels], [51, ["type.69", null], ["other", null]]);
    assert.equal(
      many.reduce((all, { counts }) => all + (counts[0] ?? 0), 0),
      (70 * 71) / 2,
    );
    const minutely = Array.from({ length: 1_000 }, (_, place) => ({ atMs: 10 * place, figures: figures.slice(0, 9) }));
    const long = summarize(minutely, wanted);
    assert.deepEqual([long.totals.length, long.items.length], [6, 6_000]);
  });
});
