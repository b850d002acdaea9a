import assert from "node:assert/strict";
import { test } from "node:test";
import { internalTokenMatches } from "./internal-token.ts";

test("only the two live tokens are accepted during a rotation", () => {
  const live = ["new-token", "old-token"];
  assert.equal(internalTokenMatches("new-token", live), true);
  assert.equal(internalTokenMatches("old-token", live), true);
  for (const presented of [undefined, "", "older-token", "new-token ", ["new-token"]]) {
    assert.equal(internalTokenMatches(presented, live), false);
  }
});

test("without a live token every call is refused", () => {
  assert.equal(internalTokenMatches("", []), false);
  assert.equal(internalTokenMatches("anything", []), false);
});
