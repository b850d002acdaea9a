import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { findJsonFlaw, jsonDepthMax } from "./json-body.ts";

const flawed: readonly [string, string, string][] = [
  ['{"a":1,"a":2}', "duplicate_member", "a"],
  ['{"a":{"b":1,"c":[{"d":1,"d":1}]}}', "duplicate_member", "a.c[0].d"],
  ['{"a":1,"\\u0061":2}', "duplicate_member", "a"],
  ['{"":1,"":2}', "duplicate_member", ""],
  ['{"__proto__":1,"__proto__":2}', "duplicate_member", "__proto__"],
  ['{ "x" : "}" , "a\\"b" : 1 , "a\\"b" : 2 }', "duplicate_member", 'a"b'],
  ['{"n":9007199254740993}', "number_out_of_range", "n"],
  ['{"n":[1,-9007199254740993]}', "number_out_of_range", "n[1]"],
  ['{"n":1e400}', "number_out_of_range", "n"],
  ["[-1E999]", "number_out_of_range", "[0]"],
  [`${"[".repeat(jsonDepthMax + 1)}${"]".repeat(jsonDepthMax + 1)}`, "too_deep", ""],
];

for (const [text, code, path] of flawed) {
  test(`${text.slice(0, 40)} is refused as ${code}`, () => {
    JSON.parse(text);
    const flaw = findJsonFlaw(text);
    assert.deepEqual([flaw?.code, flaw?.path], [code, code === "too_deep" ? "" : path]);
  });
}

const fine = [
  '{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}',
  '{"a":"{\\"a\\":1,\\"a\\":2}"}',
  '{"a":"\\\\","b":"\\\\\\""}',
  '{"a":1e10,"b":-0.5E-7,"c":9007199254740991,"d":0,"e":123456789012345.6}',
  `${"[".repeat(jsonDepthMax)}${"]".repeat(jsonDepthMax)}`,
  '"text"',
  "null",
  "[1,2,3]",
];

for (const text of fine) test(`${text.slice(0, 40)} passes`, () => assert.equal(findJsonFlaw(text), null));

test("output of JSON.stringify with safe numbers has no flaw, with any whitespace", () => {
  const value = fc.jsonValue({ maxDepth: 5 });
  fc.assert(
    fc.property(value, fc.constantFrom(0, 1, 3), (content, indent) => {
      const flaw = findJsonFlaw(JSON.stringify(content, null, indent));
      if (flaw !== null) assert.equal(flaw.code, "number_out_of_range");
    }),
  );
});

test("a duplicate name is always found", () => {
  const names = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(names, fc.nat(), (list, pick) => {
      const members = list.map((name) => `${JSON.stringify(name)}:{"x":[1,"${"y".repeat(3)}"]}`);
      const again = members[pick % members.length] as string;
      assert.equal(findJsonFlaw(`{${[...members, again].join(",")}}`)?.code, "duplicate_member");
      assert.equal(findJsonFlaw(`{${members.join(",")}}`), null);
    }),
  );
});
