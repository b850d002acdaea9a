import assert from "node:assert/strict";
import { test } from "node:test";
import { createAdmission } from "./admission.ts";

const limits = { requestsPerSource: 3, bytesPerSource: 100, bytes: 150 };

test("a source has so many requests and bytes in hand, and a place that is left is free again", () => {
  const admission = createAdmission(limits);
  const places = [1, 2, 3].map(() => admission.enter("a", 10));
  assert.ok(places.every((place) => place !== null));
  assert.equal(admission.enter("a", 1), null, "a fourth request");
  places[0]?.leave();
  assert.equal(admission.enter("a", 81), null, "more bytes than it may have");
  assert.notEqual(admission.enter("a", 80), null);
});

test("one source's burst leaves room for another, until the process is full", () => {
  const admission = createAdmission(limits);
  const own = admission.enter("a", 100);
  assert.equal(admission.enter("b", 51), null);
  const other = admission.enter("b", 50);
  assert.notEqual(other, null);
  own?.leave();
  assert.notEqual(admission.enter("c", 100), null);
});
