import assert from "node:assert/strict";
import { test } from "node:test";
import { publishedProperties } from "@signalbox/contracts";
import { createManualClock, seconds } from "@signalbox/core";
import { AppliedReports } from "./applied-reports.ts";
import { createPublishedConfiguration } from "./published-configuration.ts";

type Dependencies = Parameters<typeof createPublishedConfiguration>[0];
type Report = Parameters<AppliedReports["apply"]>[0];

/** Counts the evaluations of all reports. */
class CountedReports extends AppliedReports {
  looks = 0;

  override alive() {
    this.looks++;
    return super.alive();
  }
}

function harness() {
  const clock = createManualClock();
  const reports = new CountedReports(clock);
  const get = (name: string) =>
    publishedProperties[name as keyof typeof publishedProperties]?.default ?? "http://config";
  const configuration = { get, onChange: () => () => {}, revision: 1 } as unknown as Dependencies["configuration"];
  const published = createPublishedConfiguration({ configuration, reports, clock });
  const hear = (instance: string, pixels: number) => {
    const own = { "limits.maxImagePixels": pixels };
    reports.apply({ service: "images", instance, revision: 1, published: own } as unknown as Report, clock.now());
  };
  return { clock, reports, published, hear };
}

test("concurrent reports of many instances are evaluated once, at the next request", () => {
  const { reports, published, hear } = harness();
  for (let instance = 1; instance <= 50; instance++) hear(`images-${instance}`, instance * 1_000);
  const before = reports.looks;
  const { resource } = published.current();
  assert.equal((resource.limits as { maxImagePixels: number }).maxImagePixels, 1_000);
  published.current();
  assert.equal(reports.looks, before + 1);
  assert.equal(before, 1);
});

test("a change dates from its report, not from the next request", () => {
  const { clock, published, hear } = harness();
  clock.advance(seconds(10));
  hear("images-1", 5_000);
  const heardAt = clock.now();
  clock.advance(seconds(10));
  assert.deepEqual(published.current().changedAt, heardAt);
  hear("images-2", 6_000);
  clock.advance(seconds(10));
  assert.deepEqual(published.current().changedAt, heardAt); // the strictest value is unchanged
});
