import assert from "node:assert/strict";
import { test } from "node:test";
import { differencesOf } from "./differences.ts";

test("of two versions only the fields that differ are shown, with both values", () => {
  const mine = { url: "https://a.example", description: "mine", ordered: false };
  assert.deepEqual(differencesOf(mine, { ...mine, description: "theirs", ordered: true }), [
    { name: "description", mine: "mine", theirs: "theirs" },
    { name: "ordered", mine: "false", theirs: "true" },
  ]);
});
