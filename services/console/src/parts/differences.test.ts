import assert from "node:assert/strict";
import { test } from "node:test";
import { differencesOf } from "./differences.ts";

test("of two versions only the fields that differ are shown, with both values", () => {
  const both = { title: "same", point: { x: 0.5 } };
  const mine = { ...both, eventTypes: "mine", ordered: false, tags: ["a"], end: "" };
  const theirs = { ...both, point: { x: 0.5 }, eventTypes: "theirs", ordered: true, tags: ["a", "b"], end: "now" };
  assert.deepEqual(differencesOf(mine, theirs), [
    { name: "event types", mine: "mine", theirs: "theirs" },
    { name: "ordered", mine: "false", theirs: "true" },
    { name: "tags", mine: '["a"]', theirs: '["a","b"]' },
    { name: "end", mine: "", theirs: "now" },
  ]);
});
