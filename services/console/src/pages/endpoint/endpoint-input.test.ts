import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyOf, emptyInput } from "./endpoint-input.ts";

test("an empty field leaves a setting to the service, and lists are read with commas, spaces and lines", () => {
  const body = bodyOf({ ...emptyInput, eventTypes: "image.*\n order.paid, ", retrySchedule: "5, 300" });
  assert.deepEqual(body.event_types, ["image.*", "order.paid"]);
  assert.equal(body.settings.timeout_seconds, null);
  assert.deepEqual(body.settings.retry_schedule_seconds, [5, 300]);
});

test("what cannot be sent is refused with the name of its field", () => {
  assert.throws(() => bodyOf({ ...emptyInput, filter: "{" }), /^Error: Filter: this is not JSON/);
  assert.throws(() => bodyOf({ ...emptyInput, timeoutSeconds: "soon" }), /^Error: Time limit: “soon” is no number/);
});
