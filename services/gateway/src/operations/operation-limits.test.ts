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
