import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { sampleOf } from "./sample-of.ts";

const schemas: readonly object[] = [
  {
    type: "object",
    required: ["total", "note"],
    properties: { total: { type: "integer", minimum: 5, multipleOf: 4 } },
  },
  {
    type: "object",
    properties: { at: { type: "string", format: "date-time" }, name: { type: "string", minLength: 9, maxLength: 12 } },
  },
  {
    type: "object",
    properties: {
      state: { enum: ["paid", "open"] },
      kind: { const: "a" },
      size: { type: "number", exclusiveMinimum: 0, maximum: 0.5, default: 0.25 },
    },
  },
  {
    $defs: { "a/b": { type: "array", items: { type: "boolean" }, minItems: 2 } },
    type: "object",
    properties: { list: { $ref: "#/$defs/a~1b" } },
  },
  {
    allOf: [
      { type: "object", properties: { a: { type: "null" } }, required: ["a"] },
      { type: "object", required: ["b"] },
    ],
  },
  {
    oneOf: [
      { type: "object", required: ["x"], properties: { x: { anyOf: [{ type: "string" }, { type: "integer" }] } } },
    ],
  },
  { examples: [{ total: 1 }], type: "object", required: ["total"] },
];

test("a sample fits the schema that it was made from", () => {
  // `text` is no format that a plain validator checks; the times are.
  const ajv = new Ajv2020({ strict: false, formats: { "date-time": /^\d{4}-\d\d-\d\dT/ } });
  for (const schema of schemas) {
    const sample = sampleOf(schema);
    assert.ok(ajv.validate(schema, sample), `${JSON.stringify(schema)}: ${JSON.stringify(sample)} ${ajv.errorsText()}`);
  }
});

test("a schema that refers to itself, or to nothing, ends", () => {
  const tree = { type: "object", properties: { child: { $ref: "#" } } };
  assert.match(JSON.stringify(sampleOf(tree)), /^(\{"child":)+\{\}\}+$/);
  assert.deepEqual(sampleOf({ $ref: "https://elsewhere.example/schema" }), {});
  assert.deepEqual(sampleOf({ $ref: "#/$defs/__proto__/x" }), {});
});
