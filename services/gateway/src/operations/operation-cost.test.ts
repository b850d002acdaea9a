import assert from "node:assert/strict";
import { test } from "node:test";
import { buildSchema, executeSync, getOperationAST, Kind, type OperationDefinitionNode, parse } from "graphql";
import { actualCost, estimateCost } from "./operation-cost.ts";

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
  const fragments = new Map(
    document.definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])),
  );
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

test("a length in a variable counts with its value, and an invalid one does not make it cheaper", () => {
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

test("introspected objects count with the true lengths of their lists, as its answer has them", () => {
  for (const query of [
    "{ __schema { types { fields { name args { type { name } } } } directives { args { name } } queryType { name } } }",
    '{ __type(name: "Account") { ...T } } fragment T on __Type { fields { type { ofType { name } } } }',
    '{ __type(name: "Nothing") { fields { name } } }',
    "{ __typename __schema { __typename } }",
    "query($all: Boolean) { __schema { types { fields(includeDeprecated: $all) { name } } } }",
  ])
    assert.equal(costOf(query), objectsIn(executeSync({ schema, document: parse(query) }).data) - 1, query);
});

test("the count of introspected objects stops above the limit", () => {
  const repeated = "fields { type { name } } ".repeat(50);
  assert.equal(costOf(`{ __schema { types { ${repeated} } } }`), objectsMax + 1);
});

function objectsIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inside = Object.values(value).reduce((sum: number, member) => sum + objectsIn(member), 0);
  return Array.isArray(value) ? inside : inside + 1;
}

test("the actual cost is that of the returned objects", () => {
  const { definitions } = parse("{ viewer { id } }");
  assert.equal(actualCost(definitions[0] as OperationDefinitionNode, 6), 5);
  const mutation = parse("mutation { a: rename { account { id } } b: rename { account { id } } }").definitions[0];
  assert.equal(actualCost(mutation as OperationDefinitionNode, 5), 24);
});
