import assert from "node:assert/strict";
import { test } from "node:test";
import { FlagDefinition } from "./flag.ts";

const { expires } = FlagDefinition.shape;

test("a flag expires at a day of the calendar", () => {
  assert.equal(expires.parse("2028-02-29"), "2028-02-29");
  for (const day of ["2026-02-30", "2026-02-29", "2026-13-01", "2026-00-10"]) {
    assert.equal(expires.safeParse(day).success, false, day);
  }
});
