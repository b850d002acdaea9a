import assert from "node:assert/strict";
import { test } from "node:test";
import { objectsIn } from "@signalbox/federation";
import {
  buildSchema,
  executeSync,
  type GraphQLError,
  type GraphQLObjectType,
  getIntrospectionQuery,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
} from "graphql";
import { actualCost, estimateCost, fragmentsOf } from "./operation-cost.ts";
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

test("a document has one introspection root field per operation, aliases and fragments included", () => {
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

test("a document has a bounded number of shapes, however often each condition stands in it", () => {
  const shapes = (count: number) => `{ ${repeated(count, (at) => `a @include(if: $v${at}) b @skip(if: $v${at})`)} }`;
  const codeWith = (count: number) => {
    try {
      assertWithinLimits(parse(shapes(count)), { ...limits, rootFieldsMax: 100, directivesMax: 100 });
      return null;
    } catch (error) {
      return (error as GraphQLError).extensions.code;
    }
  };
  assert.deepEqual([codeWith(8), codeWith(9)], [null, "LIMIT_DIRECTIVES"]);
});

const schema = buildSchema(`
  type Query { viewer: Account settings: Settings }
  type Mutation { rename(name: String): Payload }
  type Payload { account: Account }
  type Account { id: ID! images(first: Int, after: String): Page keys(first: Int): Page settings: Settings }
  type Settings { locale: String }
  type Page { edges: [Edge!]! pageInfo: Info! }
  type Edge { cursor: String node: Image }
  type Image { id: ID variants: [Variant!]! }
  type Variant { url: String }
  type Info { hasNextPage: Boolean }
`);

const objectsMax = 1_000;

function costOf(query: string, variables: Record<string, unknown> = {}): number {
  const document = parse(query);
  const operation = getOperationAST(document) as OperationDefinitionNode;
  const fragments = fragmentsOf(document);
  return estimateCost({ schema, fragments, operation, variables, pageSize: 20, objectsMax });
}

test("an object costs 1, a leaf nothing, a mutation 10 besides its objects", () => {
  assert.equal(costOf("{ viewer { id settings { locale } } }"), 2);
  assert.equal(costOf("mutation { a: rename { account { id } } b: rename { account { id } } }"), 24);
});

test("only the items of a page are multiplied by first", () => {
  assert.equal(costOf("{ viewer { images(first: 100) { edges { cursor } pageInfo { hasNextPage } } } }"), 2 + 100 + 1);
  assert.equal(costOf("{ viewer { images(first: 100) { edges { node { id } } } } }"), 2 + 200);
  assert.equal(costOf("{ viewer { images { edges { node { id variants { url } } } } } }"), 2 + 60);
});

test("a list that is no page counts with its assumed length", () => {
  const variants = (schema.getType("Image") as GraphQLObjectType).getFields().variants ?? assert.fail();
  variants.extensions = { assumedSize: 8 };
  assert.equal(costOf("{ viewer { images(first: 2) { edges { node { variants { url } } } } } }"), 2 + 2 * (1 + 1 + 8));
  variants.extensions = {};
});

test("a length in a variable counts with its value, never below one", () => {
  const query = "query($n: Int) { viewer { images(first: $n) { edges { cursor } } } }";
  assert.deepEqual([costOf(query, { n: 50 }), costOf(query, { n: null }), costOf(query)], [52, 22, 22]);
  assert.equal(costOf(query, { n: -1_000 }), 3);
});

test("fragments count where they are spread", () => {
  const page = "edges { node { id } }";
  assert.equal(
    costOf(
      `{ viewer { images(first: 10) { ...P } keys(first: 10) { ... on Page { ${page} } } } } fragment P on Page { ${page} }`,
    ),
    1 + 21 + 21,
  );
});

test("ten introspected objects cost one, with the true lengths of their lists", () => {
  for (const query of [
    "{ __schema { types { fields { name args { type { name } } } } directives { args { name } } queryType { name } } }",
    '{ __type(name: "Account") { ...T } } fragment T on __Type { fields { type { ofType { name } } } }',
    '{ __type(name: "Nothing") { fields { name } } }',
    "{ __typename __schema { __typename } }",
    "query($all: Boolean) { __schema { types { fields(includeDeprecated: $all) { name } } } }",
  ])
    assert.equal(
      costOf(query),
      Math.ceil((objectsIn(executeSync({ schema, document: parse(query) }).data) - 1) / 10),
      query,
    );
});

test("the count of introspected objects stops above the limit", () => {
  const repeated = "fields { type { name } } ".repeat(500);
  assert.equal(costOf(`{ __schema { types { ${repeated} } } }`), objectsMax + 1);
});

test("mutations cost the same within fragments", () => {
  const text =
    "mutation { ...Two } fragment Two on Mutation { a: rename { account { id } } ... { b: rename { account { id } } } }";
  assert.equal(costOf(text), 24);
  assert.equal(actualCostOf(text, 5), 24);
});

test("the actual cost is that of the returned objects", () => {
  assert.equal(actualCostOf("{ viewer { id } }", 6), 5);
  assert.equal(actualCostOf("mutation { a: rename { account { id } } b: rename { account { id } } }", 5), 24);
});

function actualCostOf(query: string, objects: number): number {
  const document = parse(query);
  return actualCost(getOperationAST(document) as OperationDefinitionNode, fragmentsOf(document), {
    data: "{}",
    errors: [],
    objects,
  });
}
