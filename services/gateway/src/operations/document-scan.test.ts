import assert from "node:assert/strict";
import { test } from "node:test";
import type { GraphQLError } from "graphql";
import { scanDocument } from "./document-scan.ts";

function codeOf(query: string, tokensMax = 100_000): unknown {
  try {
    scanDocument(query, tokensMax);
    return null;
  } catch (error) {
    return (error as GraphQLError).extensions.code;
  }
}

const lists = (depth: number) => `${"[".repeat(depth)}1${"]".repeat(depth)}`;
const objects = (depth: number) => `${"{a:".repeat(depth)}1${"}".repeat(depth)}`;

test("objects may nest 64 levels and lists 8 in any value, and no deeper", () => {
  for (const [nested, max] of [
    [lists, 8],
    [objects, 64],
  ] as const) {
    for (const document of [
      (value: string) => `{ a(x: ${value}) }`,
      (value: string) => `query($x: JSON = ${value}) { a(x: $x) }`,
      (value: string) => `{ a @skip(if: ${value}) }`,
      (value: string) => `query($x: JSON @d(x: ${value})) { a(x: $x) }`,
    ]) {
      assert.equal(codeOf(document(nested(max))), null);
      assert.equal(codeOf(document(nested(max + 1))), "LIMIT_DEPTH");
    }
  }
  assert.equal(codeOf(`{ a(x: ${"[{a:".repeat(9)}1${"}]".repeat(9)}) }`), "LIMIT_DEPTH");
  assert.equal(codeOf(`query($x: ${lists(1_900).replace("1", "Int")}) { a(x: $x) }`), "LIMIT_DEPTH");
});

test("depths of neighbours do not add up, and brackets in strings do not count", () => {
  assert.equal(codeOf(`{ ${Array.from({ length: 50 }, (_, at) => `a${at}(x: ${objects(60)})`).join(" ")} }`), null);
  assert.equal(codeOf(`{ a(x: "${"[".repeat(500)}") }`), null);
});

test("endless selections are refused before they are parsed", () => {
  assert.equal(codeOf(`${"{ a ".repeat(20_000)}${"}".repeat(20_000)}`), "LIMIT_DEPTH");
});

test("a number that cannot be represented exactly is refused", () => {
  for (const number of ["1e999", "-1e999", "9007199254740993"]) {
    assert.equal(codeOf(`{ a(x: ${number}) }`), "VALIDATION_FAILED", number);
  }
  for (const number of ["9007199254740991", "-1", "0.1", "1e308"]) assert.equal(codeOf(`{ a(x: ${number}) }`), null);
});

test("a name has at most 4,096 characters, and a text may have more", () => {
  const long = "x".repeat(4_097);
  assert.equal(codeOf(`{ ${"x".repeat(4_096)} a(x: "${long}") } #${long}`), null);
  for (const query of [`{ ${long} }`, `{ ${long}: a }`, `{ a(${long}: 1) }`, `query ${long} { a }`, `{ ...${long} }`])
    assert.equal(codeOf(query), "VALIDATION_FAILED");
});
