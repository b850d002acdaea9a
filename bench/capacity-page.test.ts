import assert from "node:assert/strict";
import { test } from "node:test";
import { figuresIn } from "./capacity-figures.ts";
import { capacityPage } from "./capacity-page.ts";
import { planFor } from "./capacity-plan.ts";
import { historyFile, most, type RecordedFigure, readHistory } from "./history.ts";
import { size } from "./numbers.ts";

const costs = {
  publishedMs: 0.5,
  databaseMs: 0.8,
  publishedWalKiB: 4,
  acceptedWalKiB: 5,
  deliveredWalKiB: 5,
  eventBytes: 5_000,
  webhookBytes: 2_300,
};
const recorded = (bench: string, figure: Parameters<typeof most>): RecordedFigure => ({
  date: "2026-01-01",
  commit: null,
  machine: "quick box",
  bench,
  ...most(...figure),
  met: true,
});

test("a plan counts pods and servers at half load, and names the part that asks for the most servers", () => {
  const plan = planFor(10_000, costs);
  assert.deepEqual(plan, {
    perSecond: 10_000,
    pods: 10,
    databaseCores: 16,
    walMiB: 39.0625,
    connections: 90,
    ranges: 1,
    first: "cores of PostgreSQL",
    partitions: 16,
    bytesOfDay: 4.32e12,
  });
  assert.equal(planFor(100_000, costs).ranges, 10);
  const { ranges, first } = planFor(100_000, { ...costs, publishedWalKiB: 20 });
  assert.deepEqual([ranges, first], [40, "WAL"]);
});

test("a page without a figure that it needs is refused with the figure's name", async () => {
  const history = await readHistory(historyFile);
  const without = history.filter(({ figure }) => figure !== "accepted, forwarding off");
  assert.throws(() => capacityPage(without), /no figure "accepted, forwarding off" of ingest/);
});

test("the newest figure of a name holds, and a baseline gives its first number", () => {
  const history = [
    recorded("b", ["rate", 9, 3, "/s", "bare 1,234.5/s of 2"]),
    recorded("b", ["rate", 9, 5, "/s", "bare 2,000/s"]),
    recorded("b", ["other", 9, 1]),
  ];
  const { value, baseline, ofBench } = figuresIn(history);
  assert.equal(value("b", "rate"), 5);
  assert.equal(baseline("b", "rate"), 2_000);
  assert.throws(() => baseline("b", "other"), /has no number/);
  assert.deepEqual(
    ofBench("b").map(({ figure }) => figure),
    ["rate", "other"],
  );
});

test("how cost grows is on the page once it was measured", async () => {
  const history = (await readHistory(historyFile)).filter(({ bench }) => bench !== "growth");
  assert.doesNotMatch(capacityPage(history), /How cost grows/);
  const grown = recorded("growth", ["p99 with many, times with few: accept, 100,000 endpoints", 1.5, 1.2, "", "4 ms"]);
  assert.match(capacityPage([...history, grown]), /^\| accept, 100,000 endpoints \| 1\.2 \| 4 ms \| met \|$/m);
});

test("bytes are written in the largest unit that leaves a whole number, with two digits", () => {
  assert.deepEqual(
    [size(0), size(999), size(1_000), size(55_400_000_000), size(2.3e12)],
    ["0 B", "1,000 B", "1 kB", "55 GB", "2.3 TB"],
  );
});
