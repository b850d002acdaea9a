import assert from "node:assert/strict";
import { test } from "node:test";
import { deliveryIdOf, eventTimeOf } from "./delivery-id.ts";

const time = new Date("2026-11-22T10:00:00.123Z");

test("a delivery of an event to an endpoint has one id, which contains the time of the event", () => {
  const id = deliveryIdOf("evt_1", time, "whe_1");
  assert.match(id, /^whd_[0-9a-hjkmnp-tv-z]{26}$/);
  assert.equal(deliveryIdOf("evt_1", time, "whe_1"), id);
  assert.deepEqual(eventTimeOf(id), time);
  const others = [deliveryIdOf("evt_2", time, "whe_1"), deliveryIdOf("evt_1", time, "whe_2")];
  assert.equal(new Set([id, ...others]).size, 3);
  assert.ok(deliveryIdOf("evt_0", new Date(time.getTime() + 1), "whe_0") > id, "later events have greater ids");
});

test("a text that is no delivery id yields no time", () => {
  for (const id of ["", "whd_", "whd_1", `whe_${"0".repeat(26)}`, `whd_${"u".repeat(26)}`, `whd_${"z".repeat(26)}`]) {
    assert.equal(eventTimeOf(id), null, id);
  }
});
