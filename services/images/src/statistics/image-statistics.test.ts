import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, notModified, refused } from "@signalbox/http";
import { countsOf } from "./image-statistics.ts";

const picture = (length: number) => bytes(Buffer.alloc(length), "image/png");

test("an answer with content counts with its bytes", () => {
  assert.deepEqual(countsOf("GET", picture(5)), [0, 1, 0, 5]);
  assert.deepEqual(countsOf("GET", picture(0)), [0, 1, 0, 0]);
});

test("a 304 counts instead of the content", () => {
  assert.deepEqual(countsOf("GET", notModified('"a"')), [0, 0, 1, 0]);
});

test("neither HEAD nor a refusal counts", () => {
  assert.equal(countsOf("HEAD", picture(1)), null);
  assert.equal(countsOf("GET", refused(416, "invalid_request")), null);
});
