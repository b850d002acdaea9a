import assert from "node:assert/strict";
import { test } from "node:test";
import { whyTooOld } from "./older-version.ts";

test("a drill from a version whose databases are not upgraded is refused in one sentence", () => {
  assert.equal(
    whyTooOld("0.1.0"),
    "It is version 0.1.0: databases from before 0.2.0 are not upgraded. Name a later commit.",
  );
  assert.equal(whyTooOld("0.2.0"), null);
});
