import assert from "node:assert/strict";
import { test } from "node:test";
import { type LiveState, readEvery, readUntold } from "./read-every.ts";

const after = (read: typeof readEvery, state: LiveState, isOn = true) => read({ state, toggle: () => {} }, isOn);

test("a page that is paused or shows the past stays as it is", () => {
  for (const read of [readEvery, readUntold]) {
    assert.equal(after(read, "paused"), false);
    assert.equal(after(read, "live", false), false);
  }
});

test("what messages say is read repeatedly only where there are none", () => {
  assert.equal(after(readUntold, "off"), 10_000);
  for (const state of ["connecting", "live", "behind", "reconnecting"] as const)
    assert.equal(after(readUntold, state), 60_000, state);
  assert.equal(after(readEvery, "live"), 10_000);
});
