import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { eventOf } from "@signalbox/contracts";
import { systemClock } from "@signalbox/core";
import { serviceWith } from "@signalbox/testing";
import type { ConfigService } from "../context/config-service.ts";
import { AppliedReports } from "../state/applied-reports.ts";
import { PropertyCatalogue } from "../state/property-catalogue.ts";
import { flagResultOf, resultsOf } from "./change-results.ts";

const limit = { type: "integer", default: 10, secrecy: "public", reload: "live", effect: "e" } as const;

function serviceOfNobody() {
  const reports = new AppliedReports(systemClock);
  const catalogue = new PropertyCatalogue({ images: { "images.limit": limit } });
  const service = serviceWith<ConfigService>({ reports, catalogue, configuration: { find: () => null } });
  const report = (revision: number) => {
    const { example } = eventOf("config.applied");
    reports.apply({ ...example, service: "images", revision, pending_restart: [] }, systemClock.now());
  };
  return { service, report };
}
const made = [{ name: "images.limit", set: true, value: 20 }];

test("right after a start the wait is for the first report, and then for the revision", async () => {
  const { service, report } = serviceOfNobody();
  const answers = Promise.all([resultsOf(service, made, 7n, 10_000), flagResultOf(service, 7n, 10_000)]);
  // An answer that waits for nothing is made meanwhile.
  await setImmediate();
  report(6);
  await setImmediate();
  report(7);
  const [[property], flag] = await answers;
  assert.deepEqual([property?.instances, property?.applied, flag], [1, 1, { instances: 1, applied: 1 }]);
});

test("a dry run, and a caller who does not wait, are answered at once", async () => {
  const { service } = serviceOfNobody();
  for (const [property] of [await resultsOf(service, made, null, 10_000), await resultsOf(service, made, 7n, 0)])
    assert.deepEqual([property?.value, property?.instances, property?.applied], [20, 0, 0]);
});
