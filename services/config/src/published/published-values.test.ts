import assert from "node:assert/strict";
import { test } from "node:test";
import { publishedProperties } from "@signalbox/contracts";
import { disagreements, strictest } from "./published-values.ts";

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
