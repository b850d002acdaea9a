import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { appendFigures, historyFile, least, most, readHistory } from "./history.ts";
import { performancePage } from "./performance-page.ts";

const old = { date: "2026-01-01", commit: "aaaaaaaa", machine: "slow box, 2 cores", bench: "publish" };
const recent = { date: "2026-02-02", commit: null, machine: "quick box, 8 cores", bench: "publish" };

async function historyOf(
  ...runs: readonly (readonly [typeof old | typeof recent, Parameters<typeof appendFigures>[2]])[]
) {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-bench-history-"));
  try {
    const file = join(folder, "history.jsonl");
    for (const [run, figures] of runs) await appendFigures(file, run, figures);
    return await readHistory(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("a run is appended to the history, one row a figure, judged by its bound", async () => {
  const history = await historyOf(
    [old, [least("rate", 100, 90, "/s", "bare 200/s")]],
    [recent, [most("p99", 20, 20, "ms"), { ...most("p50", 0, 1), wanted: null }]],
  );
  const [rate, ...later] = history;
  assert.deepEqual(rate, {
    ...old,
    figure: "rate",
    value: 90,
    unit: "/s",
    baseline: "bare 200/s",
    wanted: { least: 100 },
    met: false,
  });
  assert.deepEqual(
    later.map(({ figure, met, date }) => [figure, met, date]),
    [
      ["p99", true, recent.date],
      ["p50", null, recent.date],
    ],
  );
});

test("the page judges the newest figures of each bench", async () => {
  const history = await historyOf(
    [old, [least("rate", 100, 90, "/s"), most("no longer measured", 20, 5, "ms")]],
    [{ ...old, bench: "start" }, [most("p99", 20, 5, "ms")]],
    [recent, [least("rate", 100, 12_345.678, "/s", "bare 200/s"), most("memory", 8, 9, "MiB")]],
  );
  const page = performancePage(history);
  assert.match(page, /^\*\*1 of 3 wanted figures are missed\.\*\*$/m);
  assert.match(page, /^\| `publish` \| rate \| 12,345\.68 \/s \| bare 200\/s \| ≥ 100 \| met \|$/m);
  assert.doesNotMatch(page, /no longer measured/);
  assert.match(page, /^\| `start` \| p99 \| 5 ms \| {2}\| ≤ 20 \| met \|$/m);
  assert.match(page, /^\| `publish` \| memory \| 9 MiB \| {2}\| ≤ 8 \| \*\*missed\*\* \|$/m);
  assert.match(
    page,
    /^Runs: `publish` 2026-02-02, quick box, 8 cores; `start` 2026-01-01, aaaaaaaa, slow box, 2 cores\.$/m,
  );
});

test("the page of the recorded history fits 120 lines", async () => {
  const lines = performancePage(await readHistory(historyFile)).split("\n").length - 1;
  assert.ok(lines <= 120, `${lines} lines: give up a figure, or record fewer`);
});
