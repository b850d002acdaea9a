import assert from "node:assert/strict";
import { test } from "node:test";
import { compileSchema } from "./schema-check.ts";

const checkOf = (schema: object) => {
  const check = compileSchema(schema);
  assert.ok(typeof check === "function", String(check));
  return check;
};

test("a mismatch is reported with its place", () => {
  const check = checkOf({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    required: ["order"],
    properties: { order: { $ref: "#/$defs/order" } },
    $defs: { order: { type: "object", properties: { "a/b": { type: "integer" } } } },
  });
  assert.equal(check({ order: { "a/b": 1 } }), null);
  assert.equal(check({ order: { "a/b": "1" } })?.pointer, "/order/a~1b");
  assert.equal(check({})?.pointer, "");
});

test("an invalid schema, one of another draft, and one with an outside reference are refused", () => {
  for (const schema of [
    { type: "nothing" },
    { $ref: "https://elsewhere.example/schema.json" },
    { $ref: "#/$defs/none" },
    { $schema: "http://json-schema.org/draft-04/schema#" },
    { pattern: "(" },
  ]) {
    assert.equal(typeof compileSchema(schema), "string", JSON.stringify(schema));
  }
});

test("a check that would take for ever is ended", () => {
  const slow = checkOf({ type: "string", pattern: "^(a+)+$" });
  assert.match(slow(`${"a".repeat(40)}!`)?.message ?? "", /too long/);
  assert.equal(slow("aaa"), null);
  const unique = checkOf({ type: "array", uniqueItems: true });
  assert.match(unique(Array.from({ length: 100_000 }, (_, at) => ({ at })))?.message ?? "", /too long/);
});

const sleep = (milliseconds: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

/** An object with one member that takes a given time to read, once. */
function slowOnce<T extends object>(of: T, name: string, value: unknown, milliseconds: number, slowAt = 1) {
  let reads = 0;
  const get = () => {
    if (++reads === slowAt) sleep(milliseconds);
    return value;
  };
  return { slow: Object.defineProperty(of, name, { enumerable: true, get }), reads: () => reads };
}

test("time in which the process did not run does not count", () => {
  const check = checkOf(slowOnce({ properties: { order: { type: "integer" } } }, "type", "object", 1_000).slow);
  assert.equal(check(slowOnce({}, "order", 17, 200).slow), null);
  assert.equal(check(slowOnce({}, "order", "17", 200).slow)?.pointer, "/order");
});

test("a compilation that was interrupted at its last step starts again", () => {
  const schema = () => ({ properties: { order: { type: "integer" } } });
  const quick = slowOnce(schema(), "type", "object", 0);
  checkOf(quick.slow);
  const check = checkOf(slowOnce(schema(), "type", "object", 1_000, quick.reads()).slow);
  assert.equal(check({ order: "17" })?.pointer, "/order");
});
