import assert from "node:assert/strict";
import { test } from "node:test";
import { isTransformationName, strayParameter, transformedParameters, transformedVersion } from "./transformation.ts";

test("a name is a short word in lower case that no variant has", () => {
  const names = [
    "card",
    "x",
    "hero-2",
    "a".repeat(32),
    "a".repeat(33),
    "Card",
    "2x",
    "-a",
    "a_b",
    "",
    "thumbnail",
    "large",
  ];
  assert.deepEqual(names.filter(isTransformationName), ["card", "x", "hero-2", "a".repeat(32)]);
});

test("only format, dpr, version or signature may stand beside a transformation", () => {
  assert.equal(strayParameter(["transformation", "format", "dpr", "v", "signature"]), undefined);
  assert.equal(strayParameter(["transformation", "v", "width", "fit"]), "width");
});

test("a version tells the images apart as well as the changes of a transformation", () => {
  const versions = [transformedVersion("3q2x", 1), transformedVersion("3q2x", 2), transformedVersion("bKpL", 2)];
  assert.deepEqual(versions, ["3q2x-1", "3q2x-2", "bKpL-2"]);
});

test("parameters of the request come before those of the transformation", () => {
  const form = { width: 300, trim: true, crop: "0,0,9,9", format: "webp", quality: undefined };
  assert.deepEqual(transformedParameters(form, { format: "png", dpr: "2" }), {
    width: "300",
    trim: "true",
    crop: "0,0,9,9",
    format: "png",
    dpr: "2",
  });
});
