import assert from "node:assert/strict";
import { test } from "node:test";
import { getOperationAST, parse } from "graphql";
import { type SupergraphSource, TestSupergraph, testCaller } from "./test-supergraph.ts";

const owner = `type Query { p: P } type P @key(fields: "id") { id: ID! price(in: Int): Int box: Box lid: Box }
  type Box { price(in: Int): Int }`;
/** A subgraph with fields that require prices, of the product itself or of objects in it. */
const ofProduct = (fields: string) => `type P @key(fields: "id") { id: ID! price(in: Int): Int @external ${fields} }`;
const ofObjects = (fields: string, objects: string) => `
  type P @key(fields: "id") { id: ID! ${objects} ${fields} } type Box { price(in: Int): Int @external }`;

/** Subgraphs beside the owner of the prices, with the two fields at odds. */
const conflicts: readonly [string, readonly string[], RegExp][] = [
  [
    "two fields of one subgraph",
    [ofProduct(`x: Int @requires(fields: "price(in: 1)") y: Int @requires(fields: "price(in: 2)")`)],
    /P\.x requires P\.price\(in:1\), and P\.y requires P\.price\(in:2\)/,
  ],
  [
    "fields of two subgraphs",
    [ofProduct(`x: Int @requires(fields: "price(in: 1)")`), ofProduct(`y: Int @requires(fields: "price(in: 2)")`)],
    /P\.x requires P\.price\(in:1\), and P\.y requires P\.price\(in:2\)/,
  ],
  ["one field", [ofProduct(`x: Int @requires(fields: "price(in: 1) price(in: 2)")`)], /P\.x requires .* P\.x requires/],
  ["a field with and without arguments", [ofProduct(`x: Int @requires(fields: "price(in: 1) price")`)], /P\.price of/],
  [
    "fields inside an object",
    [
      ofObjects(
        `x: Int @requires(fields: "box { price(in: 1) }") y: Int @requires(fields: "box { price(in: 2) }")`,
        "box: Box @external",
      ),
    ],
    /P\.x requires Box\.price\(in:1\)/,
  ],
];

for (const [name, subgraphs, message] of conflicts) {
  test(`a supergraph that requires one value with different arguments is refused: ${name}`, async () => {
    const named = Object.fromEntries(subgraphs.map((text, at) => [`other${at}`, text]));
    const graph = new TestSupergraph({ subgraphs: { owner, ...named }, rules: {} });
    await assert.rejects(graph.open(), message);
  });
}

/** Expects the answer of one merged schema. */
async function assertMerged(source: SupergraphSource, text: string): Promise<void> {
  const graph = new TestSupergraph(source);
  const document = parse(text);
  const operation = getOperationAST(document) ?? assert.fail();
  try {
    const executor = await graph.open();
    const answer = await executor.execute({
      text,
      document,
      operation,
      variables: {},
      context: null,
      caller: testCaller,
    });
    assert.deepEqual(answer.errors, []);
    assert.deepEqual(JSON.parse(answer.data), JSON.parse(JSON.stringify((await graph.merged(document, {})).data)));
  } finally {
    await graph.close();
  }
}

test("values of different objects may be required with different arguments", async () => {
  const required = "box { price(in: 1) } lid { price(in: 2) }";
  const other = ofObjects(`x: String @requires(fields: "${required}")`, "box: Box @external lid: Box @external");
  await assertMerged({ subgraphs: { owner, other }, rules: { requires: { "P.x": required } } }, "{ p { x } }");
});

test("a requirement returns to its subgraph by a key that the subgraph can resolve, whatever the order of its keys", async () => {
  const keys = (resolvable: string) =>
    ["code { one two }", "id code { two three }", "other", "id"]
      .map((fields) => `@key(fields: "${fields}", resolvable: ${fields === resolvable})`)
      .join(" ");
  const code = "type Code @shareable { one: ID! two: ID! three: ID! }";
  const shared = "id: ID! other: ID! @shareable code: Code! @shareable";
  const subgraphs = {
    a: `type A ${keys("id")} { ${shared} name: String! } ${code}`,
    b: `type Query { all: [A!]! } type A ${keys("id code { two three }")} { ${shared}
      name: String! @external shown: String! @requires(fields: "name") } ${code}`,
  };
  await assertMerged({ subgraphs, rules: { requires: { "A.shown": "name" } } }, "{ all { id name shown } }");
});

test("an interface without objects costs only its own fields, not those of its interface object", async () => {
  const graph = new TestSupergraph({
    subgraphs: {
      a: `type Query { a: Node } interface Node @key(fields: "id") { id: ID! } type Any @key(fields: "id") { id: ID! }`,
      b: `type Query { b: Node one: Int } type Node @key(fields: "id", resolvable: false) @interfaceObject { id: ID! name: String }`,
    },
    rules: {},
  });
  graph.instead = ({ subgraph }) =>
    subgraph === "b" ? { data: { b: { id: "1", name: "n" }, one: 1 } } : { data: { a: null } };
  const ask = async (text: string) => {
    const document = parse(text);
    const operation = getOperationAST(document) ?? assert.fail();
    const answer = await (await graph.open()).execute({
      text,
      document,
      operation,
      variables: {},
      context: null,
      caller: testCaller,
    });
    return [JSON.parse(answer.data), answer.errors.map(({ path, message }) => `${path?.join(".")}: ${message}`)];
  };
  try {
    assert.deepEqual(await ask("{ b { id name } }"), [{ b: { id: "1", name: "n" } }, []]);
    assert.deepEqual(await ask("{ one a { name } }"), [{ one: 1, a: null }, ["a: no subgraph resolves this field"]]);
    const unknown = ["b: the type of an object is unknown"];
    assert.deepEqual(await ask("{ one b { __typename id } }"), [{ one: 1, b: null }, unknown]);
  } finally {
    await graph.close();
  }
});
