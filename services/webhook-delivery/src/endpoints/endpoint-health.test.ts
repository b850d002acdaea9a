import assert from "node:assert/strict";
import { test } from "node:test";
import { hours } from "@signalbox/core";
import { type FailingWindow, judgeHealth } from "./endpoint-health.ts";

const limits = {
  failingAfterMs: hours(4),
  failuresMin: 10,
  disableAfterMs: hours(120),
  disableFailuresMin: 20,
  failedShare: 0.95,
};
const nowMs = Date.parse("2026-01-10T00:00:00.000Z");

const cases: [what: string, forHours: number, rest: Partial<FailingWindow>, expected: string | null][] = [
  ["many failures in a short time", 3.9, { failures: 1_000 }, null],
  ["few failures in a long time", 300, { failures: 9 }, null],
  ["four hours and ten failures", 4, { failures: 10 }, "notify"],
  ["the same, with the owner already notified", 4, { failures: 10, notified: true }, null],
  ["five days and nineteen failures", 120, { failures: 19, notified: true }, null],
  ["five days and twenty failures", 120, { failures: 20, notified: true }, "disable"],
  ["five days without a notification", 120, { failures: 20 }, "disable"],
  ["one success in twenty", 120, { failures: 19, successes: 1 }, "notify"],
  ["more than one success in twenty", 120, { failures: 100, successes: 6 }, null],
];

for (const [what, forHours, rest, expected] of cases) {
  test(`${what}: ${expected ?? "nothing"}`, () => {
    const failingSince = new Date(nowMs - hours(forHours));
    const window = { failingSince, failures: 0, successes: 0, notified: false, ...rest };
    assert.equal(judgeHealth(window, nowMs, limits), expected);
  });
}
