import assert from "node:assert/strict";
import { test } from "node:test";
import type { Source } from "../sources.ts";
import { inputOf, patchOf } from "./source-input.ts";

const source = {
  name: "Shop",
  event_types: ["order.*", "refund"],
  forward: true,
  status: "active",
  settings: { tolerance_seconds: 60, rate: 5, keep_rejected_bodies: true },
} as unknown as Source;

test("an untouched form changes nothing", () => {
  const { name, event_types, forward, status, settings } = source;
  assert.deepEqual(patchOf(inputOf(source), source), { name, event_types, forward, status, settings });
});

test("a setting taken out of the text goes back to its default; no type is every type", () => {
  const input = { ...inputOf(source), eventTypes: " \n", settings: '{ "rate": 9 }', keepRejected: false };
  const patch = patchOf(input, source);
  assert.deepEqual(patch.settings, { tolerance_seconds: null, rate: 9, keep_rejected_bodies: false });
  assert.equal(patch.event_types, null);
});

test("settings that are no JSON object are refused with their name", () => {
  for (const settings of ["{", "[]", "null"])
    assert.throws(() => patchOf({ ...inputOf(source), settings }, source), /^Error: Settings: this is not/);
});
