import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { eventOf } from "@signalbox/contracts";
import { systemClock } from "@signalbox/core";
import { AppliedReports } from "../published/applied-reports.ts";
import { createChangeResults } from "./change-results.ts";
import { createPropertyCatalogue } from "./property-catalogue.ts";

const limit = { type: "integer", default: 10, secrecy: "public", reload: "live", effect: "e" } as const;

function resultsOfNobody() {
  const reports = new AppliedReports(systemClock);
  const catalogue = createPropertyCatalogue({ images: { "images.limit": limit } });
  const results = createChangeResults({ reports, catalogue, elsewhere: () => null });
  const report = (revision: number) => {
    const { example } = eventOf("config.applied");
    reports.apply({ ...example, service: "images", revision, pending_restart: [] }, systemClock.now());
  };
  return { results, report };
}
const made = [{ name: "images.limit", set: true, value: 20 }];

test("right after a start the wait is for the first report, and then for the revision", async () => {
  const { results, report } = resultsOfNobody();
  const answers = Promise.all([results.of(made, 7n, 10_000), results.ofFlag(7n, 10_000)]);
  // An answer that waits for nothing is made meanwhile.
  await setImmediate();
  report(6);
  await setImmediate();
  report(7);
  const [[property], flag] = await answers;
  assert.deepEqual([property?.instances, property?.applied, flag], [1, 1, { instances: 1, applied: 1 }]);
});

test("a dry run, and a caller who does not wait, are answered at once", async () => {
  const { results } = resultsOfNobody();
  for (const [property] of [await results.of(made, null, 10_000), await results.of(made, 7n, 0)])
    assert.deepEqual([property?.value, property?.instances, property?.applied], [20, 0, 0]);
});
