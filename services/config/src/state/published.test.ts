import assert from "node:assert/strict";
import { test } from "node:test";
import { publishedProperties } from "@signalbox/contracts";
import { createManualClock, seconds } from "@signalbox/core";
import { AppliedReports } from "./applied-reports.ts";
import { disagreements, PublishedConfiguration, strictest } from "./published-configuration.ts";

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
  const configuration = { get, onChange: () => () => {}, revision: 1 } as unknown as ConstructorParameters<
    typeof PublishedConfiguration
  >[0];
  const published = new PublishedConfiguration(configuration, reports, clock);
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

const own = {
  "limits.maxPageSize": 100,
  "capabilities.imageAvif": true,
  "features.reports": "enabled",
  "supported.imageTypes": ["image/png", "image/avif"],
};

test("agreeing instances are published unchanged", () => {
  const values = strictest(own, [own]);
  assert.equal(values["limits.maxPageSize"], 100);
  assert.equal(values["features.reports"], "enabled");
  assert.deepEqual(disagreements(own, [own]), []);
});

test("disagreeing instances are published at their strictest", () => {
  const other = {
    "limits.maxPageSize": 50,
    "capabilities.imageAvif": false,
    "features.reports": "preview",
    "supported.imageTypes": ["image/png"],
  };
  const values = strictest(own, [other]);
  assert.equal(values["limits.maxPageSize"], 50);
  assert.equal(values["capabilities.imageAvif"], false);
  assert.equal(values["features.reports"], "disabled");
  assert.deepEqual(values["supported.imageTypes"], ["image/png"]);
  assert.deepEqual(
    disagreements(own, [other]),
    Object.keys(other).sort((a, b) => order(a) - order(b)),
  );
});

test("a value that another version reports and this one refuses is left out by itself", () => {
  const others = [{ "limits.maxPageSize": "many", "supported.locales": [7], "limits.maxUploadBytes": null }];
  const values = strictest(own, others);
  assert.deepEqual(
    [values["limits.maxPageSize"], values["supported.locales"], values["limits.maxUploadBytes"]],
    [
      own["limits.maxPageSize"],
      publishedProperties["supported.locales"].default,
      publishedProperties["limits.maxUploadBytes"].default,
    ],
  );
  assert.ok(disagreements(own, others).includes("limits.maxPageSize"));
});

test("the published values keep the rules between properties while a change of both rolls out", () => {
  const values = strictest(
    { "limits.maxPageSize": 100, "defaults.pageSize": 80, "supported.locales": ["en", "de"], "defaults.locale": "en" },
    [{ "limits.maxPageSize": 50, "supported.locales": ["de"] }],
  );
  assert.deepEqual([values["limits.maxPageSize"], values["defaults.pageSize"]], [50, 50]);
  assert.deepEqual([values["supported.locales"], values["defaults.locale"]], [["de"], "de"]);
  const apart = strictest({ "supported.locales": ["en"] }, [{ "supported.locales": ["de"] }]);
  assert.deepEqual(apart["supported.locales"], ["en"], "a list is never empty");
});

test("an unreported value has its declared default", () => {
  assert.equal(strictest({}, [])["limits.maxUploadBytes"], publishedProperties["limits.maxUploadBytes"].default);
});

const order = (name: string) => Object.keys(publishedProperties).indexOf(name);
