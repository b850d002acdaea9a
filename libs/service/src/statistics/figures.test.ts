import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  addToTable,
  columnsOfTable,
  createFigureReader,
  type FigureTable,
  labelsKey,
  type StoredFigures,
  tableStored,
} from "./figures.ts";
import {
  addToBin,
  type Bins,
  binOf,
  binsOf,
  type Histogram,
  noBinCounts,
  quantilesOf,
  quantilesOfCounts,
  singleBin,
} from "./histogram.ts";

const shares = [0.01, 0.5, 0.95, 0.99, 1];
const dayMs = 86_400_000;

/** The whole milliseconds of attempts and leases, short and long ones alike. */
const durations = fc.array(fc.oneof(fc.nat(50), fc.nat(30_000), fc.nat(7 * dayMs)), { minLength: 1, maxLength: 300 });

/** The histograms of two halves of the values, which must add up. */
function histogramsOf(values: readonly number[]): Bins[] {
  const histograms: [Histogram, Histogram] = [new Map(), new Map()];
  for (const [index, value] of values.entries()) addToBin(histograms[index % 2] as Histogram, binOf(value), 1);
  return histograms.map(binsOf);
}

/** The quantile by nearest rank, of the values themselves. */
function exactOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] as number;
}

describe("the quantiles of a histogram", () => {
  it("are within 2 % of those of the values", () => {
    fc.assert(
      fc.property(durations, (values) => {
        const found = quantilesOf(histogramsOf(values), shares);
        for (const [place, share] of shares.entries()) {
          const exact = exactOf(values, share);
          assert.ok(
            Math.abs((found[place] as number) - exact) <= 0.02 * exact,
            `${share}: ${found[place]}, not ${exact}`,
          );
        }
      }),
      { numRuns: 500 },
    );
  });

  it("are the same of a sum that others are added to", () => {
    fc.assert(
      fc.property(durations, durations, (some, others) => {
        const sum = noBinCounts();
        for (const values of [some, others]) quantilesOf(histogramsOf(values), shares, sum);
        assert.deepEqual(quantilesOfCounts(sum, shares), quantilesOf(histogramsOf([...some, ...others]), shares));
      }),
    );
    assert.deepEqual(quantilesOfCounts(noBinCounts(), [0.5]), [null]);
  });

  it("are exact for the few milliseconds of a near receiver", () => {
    for (let value = 0; value < 25; value++) assert.deepEqual(quantilesOf(histogramsOf([value]), [0.5]), [value]);
  });

  it("of nothing are null", () =>
    assert.deepEqual(quantilesOf([binsOf(new Map()), binsOf(new Map())], [0.5, 0.99]), [null, null]));

  it("keep their bound for a time that passes a week, which counts as one", () => {
    assert.equal(binOf(Number.MAX_SAFE_INTEGER), binOf(60 * dayMs));
  });
});

const stored: fc.Arbitrary<StoredFigures> = fc.tuple(
  fc.tuple(fc.constantFrom("a", "b", null), fc.constantFrom("2xx", "none")),
  fc.tuple(
    fc.nat(1_000),
    fc.maxSafeNat().map((count) => Math.floor(count / 100)),
  ),
  fc
    .array(fc.tuple(fc.nat(600), fc.integer({ min: 1, max: 1_000_000 })), { maxLength: 5 })
    .map((bins) => binsOf(new Map(bins))),
);

/** A form of a table that does not depend on the order in which it was filled. */
const canonical = (table: FigureTable) =>
  [...table.values()]
    .map(({ labels, counts, histogram }) => ({ labels, counts, bins: [...histogram].toSorted(([a], [b]) => a - b) }))
    .toSorted((one, other) => JSON.stringify(one.labels).localeCompare(JSON.stringify(other.labels)));

describe("a table of figures", () => {
  it("is the same when parts are summed up first, as a roll-up does", () => {
    fc.assert(
      fc.property(fc.array(fc.array(stored, { maxLength: 6 }), { maxLength: 6 }), (parts) => {
        const [whole, rolled]: [FigureTable, FigureTable] = [new Map(), new Map()];
        addToTable(whole, parts.flat());
        for (const part of parts) {
          const table: FigureTable = new Map();
          addToTable(table, part);
          addToTable(rolled, tableStored(table));
        }
        assert.deepEqual(canonical(rolled), canonical(whole));
      }),
    );
  });

  it("is the same when it has been a row, whose text of labels does not depend on the order of its filling", () => {
    fc.assert(
      fc.property(fc.array(stored, { maxLength: 12 }), (figures) => {
        const [table, backwards, read]: [FigureTable, FigureTable, FigureTable] = [new Map(), new Map(), new Map()];
        addToTable(table, figures);
        addToTable(backwards, figures.toReversed());
        const columns = columnsOfTable(table);
        addToTable(read, createFigureReader()(columns));
        assert.deepEqual(canonical(read), canonical(table));
        assert.deepEqual(columnsOfTable(backwards), columns);
      }),
    );
  });

  it("loses no count beyond its bound of combinations: the type counts as other", () => {
    const table: FigureTable = new Map();
    for (let type = 0; type < 500; type++) addToTable(table, [[[`type.${type}`, "2xx"], [1, 2], singleBin(3)]]);
    assert.equal(table.size, 101);
    const all = [...table.values()];
    const sumOf = (of: (figures: (typeof all)[number]) => number | undefined) =>
      all.reduce((sum, figures) => sum + (of(figures) ?? 0), 0);
    const bins = sumOf(({ histogram }) => histogram.get(3));
    assert.deepEqual([sumOf(({ counts }) => counts[0]), sumOf(({ counts }) => counts[1]), bins], [500, 1_000, 500]);
    assert.deepEqual(table.get(labelsKey(["other", "2xx"]))?.counts, [400, 800]);
  });
});
