import assert from "node:assert/strict";
import { test } from "node:test";
import { asksForMore, licencePage, softwareBill } from "./licence-page.ts";

const plain = { name: "express", version: "5.3.0", licence: "MIT", text: "Permission is hereby granted" };
const special = { name: "@apollo/gateway", version: "2.14.4", licence: "Elastic-2.0", text: null };

test("a licence with further conditions comes first, and every text is included", () => {
  const page = licencePage([plain, special]);
  const [before = "", after = ""] = page.split("All of them:");
  assert.match(before, /@apollo\/gateway \| 2\.14\.4 \| Elastic-2\.0/);
  assert.doesNotMatch(before, /express/);
  assert.match(after, /express \| 5\.3\.0 \| MIT[\s\S]*Permission is hereby granted/);
});

test("of a choice one plain licence is enough, and of a combination all have to be", () => {
  for (const licence of ["MIT", "(MIT OR GPL-3.0-only)", "MIT and ISC", "(MIT AND Zlib)"]) {
    assert.equal(asksForMore(licence), false, licence);
  }
  for (const licence of ["Elastic-2.0", "MIT AND GPL-3.0-only", "LGPL-3.0-or-later", "unknown"]) {
    assert.equal(asksForMore(licence), true, licence);
  }
});

test("the bill of materials names each package as the tools look it up", () => {
  const { components } = JSON.parse(softwareBill([special]));
  assert.deepEqual(components[0].purl, "pkg:npm/%40apollo/gateway@2.14.4");
});
