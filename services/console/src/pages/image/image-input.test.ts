import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyOf, movedPoint } from "./image-input.ts";

test("empty texts are cleared; tags are read with commas or lines, inner spaces kept", () => {
  const texts = { title: " Harbour ", altText: "", caption: " ", filename: "a.jpg" };
  const body = bodyOf({ ...texts, tags: "the sea, \n boats,", visibility: "private", focalPoint: null });
  assert.deepEqual([body.title, body.alt_text, body.caption, body.tags], ["Harbour", null, null, ["the sea", "boats"]]);
});

test("arrow keys move a point by hundredths, with Shift by tenths, never out of the image", () => {
  const middle = { x: 0.5, y: 0.5 };
  assert.deepEqual(movedPoint(middle, "ArrowLeft", false), { x: 0.49, y: 0.5 });
  assert.deepEqual(movedPoint(middle, "ArrowDown", true), { x: 0.5, y: 0.6 });
  assert.deepEqual(movedPoint({ x: 0.95, y: 0 }, "ArrowRight", true), { x: 1, y: 0 });
  assert.equal(movedPoint(middle, "Tab", false), null);
});
