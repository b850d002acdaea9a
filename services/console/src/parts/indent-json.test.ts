import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { indentJson, memberText, visibleText } from "./indent-json.ts";

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

test("a member of JSON is found with the digits that it was written with", () => {
  const text = '{"a": {"9": 1e400, "b": [ 1.10, {"x":9007199254740993} ]}, "a\\"": "}", "n":null}';
  assert.equal(memberText(text, "a", "b", 0), "1.10");
  assert.equal(memberText(text, "a", "b", 1), '{"x":9007199254740993}');
  assert.equal(memberText(text, "a", "9"), "1e400");
  assert.equal(memberText(text, 'a"'), '"}"');
  assert.equal(memberText(text, "n"), "null");
  for (const path of [["z"], ["n", "z"], ["a", "b", 7]]) assert.equal(memberText(text, ...path), undefined);
});

test("each member of any JSON is found", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const text = JSON.stringify(value);
      for (const [name, member] of Object.entries(JSON.parse(text)))
        assert.equal(memberText(text, name), JSON.stringify(member));
    }),
  );
});

test("a character that nobody sees, or that turns a text around, is shown by its code", () => {
  assert.equal(visibleText("a\u202Eb\u200Bc"), "a\\u202Eb\\u200Bc");
  assert.equal(visibleText("für 100 €\n\t👩"), "für 100 €\n\t👩");
});
