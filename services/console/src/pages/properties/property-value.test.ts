import assert from "node:assert/strict";
import { test } from "node:test";
import { boundsText, inputText, readValue } from "./property-value.ts";

const bounds = { min: null, max: null, choices: null, pattern: null, nullable: false, maxItems: null, maxLength: null };

test("a typed value has the type of its property, or is refused in words", () => {
  assert.equal(readValue(" 50 ", { type: "integer", bounds }), 50);
  assert.equal(readValue("true", { type: "boolean", bounds }), true);
  assert.deepEqual(readValue("a\n b \n\n", { type: "list", bounds }), ["a", "b"]);
  assert.equal(readValue(" kept ", { type: "string", bounds }), " kept ");
  assert.throws(() => readValue("", { type: "number", bounds }), /^Error: Value: “” is not a number\./);
  assert.throws(() => readValue("yes", { type: "boolean", bounds }), /^Error: Value: choose true or false\./);
});

test("nothing typed is no value where the property allows none", () => {
  assert.equal(readValue(" ", { type: "integer", bounds: { ...bounds, nullable: true } }), null);
});

test("a value is shown as it would be typed", () => {
  assert.deepEqual([null, ["a", "b"], 5, false].map(inputText), ["", "a\nb", "5", "false"]);
});

test("the bounds of a property are said in one sentence", () => {
  assert.equal(
    boundsText({ type: "integer", bounds: { ...bounds, min: 1, max: 9, nullable: true } }, "seconds"),
    "A whole number, in seconds, at least 1, at most 9, empty for none.",
  );
});
