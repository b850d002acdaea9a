import assert from "node:assert/strict";
import { test } from "node:test";
import { createManualClock, minutes } from "@signalbox/core";
import { RefusedShares } from "./receiving-metrics.ts";

function shares() {
  const clock = createManualClock();
  const counted = new RefusedShares(clock);
  const count = (sourceId: string, taken: number, refused: number) => {
    for (let nth = 0; nth < taken; nth++) counted.count(sourceId, false);
    for (let nth = 0; nth < refused; nth++) counted.count(sourceId, true);
  };
  return { clock, count, mostlyRefused: () => counted.mostlyRefused() };
}

test("a source counts when more than half of enough webhooks are refused", () => {
  const { count, mostlyRefused } = shares();
  count("src_half", 15, 15);
  count("src_most", 15, 16);
  count("src_few", 0, 19);
  assert.deepEqual(mostlyRefused(), ["src_most"]);
});

test("webhooks older than ten minutes do not count", () => {
  const { clock, count, mostlyRefused } = shares();
  count("src_a", 0, 20);
  clock.advance(minutes(5));
  assert.deepEqual(mostlyRefused(), ["src_a"]);
  clock.advance(minutes(5));
  assert.deepEqual(mostlyRefused(), []);
});

test("a source with a corrected secret counts no more once most webhooks are accepted", () => {
  const { clock, count, mostlyRefused } = shares();
  count("src_a", 0, 20);
  clock.advance(minutes(5));
  count("src_a", 21, 0);
  assert.deepEqual(mostlyRefused(), []);
});
