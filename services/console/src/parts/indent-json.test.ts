import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { indentJson } from "./indent-json.ts";

test("JSON is indented as everybody indents it", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const value = JSON.parse(text);
      assert.equal(indentJson(JSON.stringify(value)), JSON.stringify(value, null, 2));
    }),
  );
});

test("indented JSON keeps digits, order, escapes, depth", () => {
  const text = '{"b":9007199254740993.0,\r\n"2":1.10 , "1":-0,"e":"\\u0041 { \\" ,"}';
  assert.equal(
    indentJson(text),
    '{\n  "b": 9007199254740993.0,\n  "2": 1.10,\n  "1": -0,\n  "e": "\\u0041 { \\" ,"\n}',
  );
  const deep = `${"[".repeat(5_000)}1e400${"]".repeat(5_000)}`;
  assert.equal(indentJson(deep).replaceAll(/\s/g, ""), deep);
});

test("another text stays as it is", () => {
  for (const text of ["", "a { b", '{"a":1', "curl -d '{}' x"]) assert.equal(indentJson(text), text);
});
