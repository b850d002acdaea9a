import assert from "node:assert/strict";
import { test } from "node:test";
import { type GraphQLError, getIntrospectionQuery, parse } from "graphql";
import { assertWithinLimits } from "./operation-limits.ts";

const limits = { depthMax: 4, aliasesMax: 2, rootFieldsMax: 3, directivesMax: 2 };

function codeOf(query: string): unknown {
  try {
    assertWithinLimits(parse(query), limits);
    return null;
  } catch (error) {
    return (error as GraphQLError).extensions.code;
  }
}

test("a document at every limit passes", () => {
  assert.equal(codeOf("{ x: a { b { c { d } } } y: b c @skip(if: true) @include(if: true) }"), null);
});

test("each limit refuses with its own code", () => {
  assert.equal(codeOf("{ a { b { c { d { e } } } } }"), "LIMIT_DEPTH");
  assert.equal(codeOf("{ a: x b: x c: x }"), "LIMIT_ALIASES");
  assert.equal(codeOf("{ a b c d }"), "LIMIT_ROOT_FIELDS");
  assert.equal(codeOf("{ a @skip(if: true) @include(if: true) b @skip(if: true) }"), "LIMIT_DIRECTIVES");
});

test("depth hidden in fragments is counted where it is spread", () => {
  assert.equal(
    codeOf("{ a { ...F } } fragment F on T { b { ...G } } fragment G on T { c { d { e } } }"),
    "LIMIT_DEPTH",
  );
  assert.equal(codeOf("query __schema { a { b { c { d { e } } } } }"), "LIMIT_DEPTH");
});

test("fragments that double at every level are refused before they are walked to the end", () => {
  const levels = Array.from({ length: 30 }, (_, n) => `fragment F${n} on T { ...F${n + 1} ...F${n + 1} }`).join(" ");
  assert.equal(codeOf(`{ a { ...F0 } } ${levels} fragment F30 on T { x }`), "LIMIT_COST");
});

test("a fragment that spreads itself does not loop", () => {
  assert.equal(codeOf("{ a { ...F } } fragment F on T { ...F b }"), null);
});

test("a document has one introspection root field per operation, under aliases and in fragments too", () => {
  assert.equal(codeOf("{ __schema { a } b __typename }"), null);
  for (const query of [
    "{ a: __schema { x } b: __schema { x } }",
    "{ __schema { x } __type { x } }",
    "{ __schema { x } ...F } fragment F on Query { ... { __type { x } } }",
    "{ ...F ...F } fragment F on Query { __schema { x } }",
  ])
    assert.equal(codeOf(query), "LIMIT_ROOT_FIELDS", query);
  assert.equal(codeOf("query A { __schema { x } } query B { __schema { x } }"), null);
});

test("aliases are counted as depth is: where their fragment is spread, for the operation that has most", () => {
  const three = "fragment F on T { x: a y: b z: c }";
  assert.equal(codeOf(`{ a { ...F } } ${three}`), "LIMIT_ALIASES");
  assert.equal(codeOf("{ a { ...F b { ...F c { ...F } } } } fragment F on T { x: a }"), "LIMIT_ALIASES");
  assert.equal(codeOf("query A { x: a y: b } query B { x: a y: b }"), null);
});

test("the standard introspection query passes the default limits", () => {
  const defaults = { depthMax: 16, aliasesMax: 30, rootFieldsMax: 20, directivesMax: 50 };
  assert.doesNotThrow(() => assertWithinLimits(parse(getIntrospectionQuery()), defaults));
});

const repeated = (count: number, part: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => part(at)).join(" ");

/** Documents of which validation would compare each part with each other, by their number of parts. */
const comparisons: Readonly<Record<string, (count: number) => string>> = {
  "one field": (count) => `{ a { ${repeated(count, () => "x")} } }`,
  "one field in objects that are merged": (count) => `{ a { ${repeated(count / 2, () => "b { x }")} } }`,
  "one field in inline fragments": (count) => `{ a { ${repeated(count, () => "... { x }")} } }`,
  "spread fragments": (count) =>
    `{ a { ${repeated(count, (at) => `...F${at}`)} } } ${repeated(count, (at) => `fragment F${at} on T { x${at} }`)}`,
  "operations together": (count) => repeated(2, (at) => `query Q${at} { a { ${repeated(count * 0.7, () => "x")} } }`),
};

for (const [what, document] of Object.entries(comparisons)) {
  test(`what repeats too often is refused before it is compared: ${what}`, () => {
    assert.equal(codeOf(document(190)), null);
    assert.equal(codeOf(document(300)), "LIMIT_COST");
    assert.equal(codeOf(document(3_900)), "LIMIT_COST");
  });
}

test("fields of different places and names do not count together", () => {
  assert.equal(codeOf(`{ a { ${repeated(3_000, (at) => `x${at}`)} } b { ${repeated(150, () => "x")} } }`), null);
  assert.equal(codeOf(`{ a { ${repeated(130, () => "x")} b { ${repeated(130, () => "x")} } } }`), null);
});
