import assert from "node:assert/strict";
import { after, test } from "node:test";
import { getOperationAST, isObjectType, parse } from "graphql";
import type { Executed } from "../src/executor.ts";
import type { Loss } from "../src/subgraphs/subgraph-port.ts";
import { supergraphs } from "./supergraphs.ts";
import { type SupergraphSource, TestSupergraph, testCaller } from "./test-supergraph.ts";

const shop = new TestSupergraph(supergraphs.shop);
after(() => shop.close());

async function run(graph: TestSupergraph, text: string, variables: Record<string, unknown> = {}) {
  const document = parse(text);
  const operation = getOperationAST(document);
  assert.ok(operation);
  graph.sent.length = 0;
  const executor = await graph.open();
  return executor.execute({ text, document, operation, variables, context: null, caller: testCaller });
}

async function dataOf(graph: TestSupergraph, text: string, variables: Record<string, unknown> = {}) {
  const answer = (await run(graph, text, variables)) as Executed;
  assert.deepEqual(answer.errors, [], text);
  return JSON.parse(answer.data);
}

/** The requests without their values. */
const questions = (graph: TestSupergraph) =>
  graph.sent.map(({ body }) => (JSON.parse(body) as { query: string }).query);

test("one plan serves operations that differ only in names or literals", async () => {
  await dataOf(shop, '{ product(upc: "upc-1") { related(first: 1) { name reviews(limit: 2) { stars } } } }');
  const first = questions(shop);
  const renamed =
    '{ p: product(upc: "upc-2") { all: related(first: 3) { n: name r: reviews(limit: 1) { s: stars } } } }';
  const data = await dataOf(shop, renamed);
  assert.deepEqual(questions(shop), first);
  assert.deepEqual(Object.keys(data.p.all[0] ?? { n: 0, r: 0 }), ["n", "r"]);
  const viaVariable =
    'query($n: Int!) { product(upc: "upc-1") { related(first: $n) { name reviews(limit: $n) { stars } } } }';
  await dataOf(shop, viaVariable, { n: 2 });
  assert.deepEqual(questions(shop), first);
});

test("a client's arguments do not meet those that a requirement of another subgraph has", async () => {
  const data = await dataOf(shop, '{ product(upc: "upc-1") { price(currency: USD) shipping } }');
  const { data: merged } = await shop.merged(parse('{ product(upc: "upc-1") { price(currency: USD) shipping } }'), {});
  assert.deepEqual(data, JSON.parse(JSON.stringify(merged)));
});

test("concurrent requests never share fetches: their callers may see different data", async () => {
  const text = '{ product(upc: "upc-1") { name reviews { stars } } }';
  await dataOf(shop, text);
  const alone = shop.sent.length;
  await Promise.all([dataOf(shop, text), dataOf(shop, text), dataOf(shop, text)]);
  assert.equal(shop.sent.length, 3 * alone);
});

test("an entity is sent once, in however many places it stands", async () => {
  await dataOf(shop, "{ users(limit: 50) { friends(first: 50) { reviews { product { name stock } } } } }");
  for (const { body } of shop.sent) {
    const { representations = [] } = (JSON.parse(body) as { variables: { representations?: unknown[] } }).variables;
    const texts = representations.map((one) => JSON.stringify(one));
    assert.equal(new Set(texts).size, texts.length, body);
  }
});

test("fetches that ask the same question travel together once all are ready", async () => {
  await dataOf(shop, "{ a: users(limit: 3) { reviews { id } } b: users(limit: 4) { reviews { id } } }");
  assert.deepEqual(
    shop.sent.map(({ subgraph }) => subgraph),
    ["accounts", "reviews"],
  );
});

test("mutations run one by one, in the order of the document, also where two are the same", async () => {
  const data = await dataOf(shop, 'mutation { touch b: touch rename(id: "id-1", to: "x") { name stock } }');
  assert.deepEqual(Object.keys(data), ["touch", "b", "rename"]);
  assert.match(questions(shop)[0] ?? "", /^mutation.*touch.*touch.*rename/);
});

test("a mutation that is written twice runs once, whatever the order of its input's members", async () => {
  const text = `mutation($x: String!) {
    m: move(near: { name: $x, tags: ["a"], deep: { name: "b", tags: [] } })
    ...Again
  }
  fragment Again on Mutation { m: move(near: { deep: { tags: [], name: "b" }, tags: ["a"], name: $x }) }`;
  shop.world.mutations.length = 0;
  await dataOf(shop, text, { x: "c" });
  assert.equal(shop.world.mutations.length, 1);
});

test("introspection works without a fetch, also beside fetched fields", async () => {
  const data = await dataOf(shop, "query($n: String!) { t: __type(name: $n) { name } __typename me { __typename } }", {
    n: "User",
  });
  assert.deepEqual([data.t, data.__typename, data.me?.__typename ?? "User"], [{ name: "User" }, "Query", "User"]);
  await dataOf(shop, "{ __schema { queryType { name } } }");
  assert.deepEqual(shop.sent, []);
});

/** The same field has two types in one place, for which the planner renames the answers of subgraphs. */
const renaming: SupergraphSource = {
  subgraphs: {
    a: `
      type Query { all: [I] }
      interface I { id: ID! }
      type X implements I @key(fields: "id") { id: ID! }
      type Y implements I @key(fields: "id") { id: ID! }
    `,
    b: `
      type X @key(fields: "id") { id: ID! v: Int }
      type Y @key(fields: "id") { id: ID! v: String }
    `,
  },
  rules: {},
};

test("names that only the planner has to keep apart are kept apart already", async () => {
  const graph = new TestSupergraph(renaming);
  try {
    const text = "{ all { ... on X { v } ... on Y { w: v } } }";
    const { data } = await graph.merged(parse(text), {});
    assert.deepEqual(await dataOf(graph, text), JSON.parse(JSON.stringify(data)));
  } finally {
    await graph.close();
  }
});

/** The keys of two types of one list have one name with different types, for which the planner renames an answer. */
const differentKeys: SupergraphSource = {
  subgraphs: {
    a: `
      type Query { all: [I] nested: Box }
      type Box { all: [[I!]] }
      interface I { id: ID! }
      type X implements I @key(fields: "code") { id: ID! code: Int! }
      type Y implements I @key(fields: "code") { id: ID! code: String! }
    `,
    b: `
      type X @key(fields: "code") { code: Int! v: Int }
      type Y @key(fields: "code") { code: String! w: String }
    `,
  },
  rules: { steady: ["X.code", "Y.code"] },
};

test("keys of one name with different types each find their entities", async () => {
  const graph = new TestSupergraph(differentKeys);
  try {
    const text = "{ all { ... on X { v } ... on Y { w code } } nested { all { ... on X { v code } ... on Y { w } } } }";
    const { data } = await graph.merged(parse(text), {});
    assert.deepEqual(await dataOf(graph, text), JSON.parse(JSON.stringify(data)));
    assert.ok(
      questions(graph).some((question) => question.includes("__alias_")),
      questions(graph).join("\n"),
    );
  } finally {
    await graph.close();
  }
});

test("an object whose type came with a lost fetch has an error at each field that the type would have led to", async (t) => {
  const media = new TestSupergraph(supergraphs.media);
  t.after(() => media.close());
  let count = 0;
  // The third request is the only one that asks for the type of critics, which the fetch of `loves` needs.
  media.instead = ({ subgraph }) =>
    ++count === 3 ? { loss: { code: "UNAVAILABLE", subgraph, reason: "planted" } } : null;
  const text = "{ best { critics(first: 2) { id } ... on Book { critics(first: 2) { loves { id } } } } }";
  const { data, errors } = (await run(media, text)) as Executed;
  assert.equal(JSON.parse(data).best[0].critics[0].loves, null, data);
  assert.deepEqual(
    errors.map(({ path }) => path?.join(".")),
    ["best.0.critics.0.loves"],
  );
});

/** Each product has reviews of another subgraph; its errors member is not what GraphQL allows. */
for (const errors of ["No.", {}, [null], [{ message: 7 }], [{ message: "No.", path: "reviews" }]]) {
  test(`an errors member that is no list of errors loses its fetch alone: ${JSON.stringify(errors)}`, async (t) => {
    t.after(() => {
      shop.instead = null;
    });
    shop.instead = ({ subgraph }) => (subgraph === "reviews" ? ({ data: {}, errors } as never) : null);
    const text = '{ product(upc: "upc-1") { name reviews { stars } } }';
    const { data, errors: told } = (await run(shop, text)) as Executed;
    const { product } = JSON.parse(data);
    assert.equal(typeof product.name, "string");
    assert.equal(product.reviews, null);
    assert.deepEqual(
      told.map(({ path, extensions }) => [
        path?.slice(0, 2),
        extensions?.code,
        (extensions?.loss as Loss | undefined)?.subgraph,
      ]),
      [[["product", "reviews"], "INTERNAL", "reviews"]],
    );
  });
}

/** Answers the fetches of reviews with an error at a path, whose data are right. */
const errorAt = (path: (string | number)[], data: object) => ({
  data: data as Record<string, unknown>,
  errors: [{ message: "Odd.", path, extensions: { code: "CONFLICT" } }],
});

for (const path of [
  ["_entities", 9, "reviews"],
  ["_entities", 0, "gone"],
  ["elsewhere"],
  ["elsewhere", 0],
  ["_entities", 0, "reviews", 0, "x"],
])
  test(`an error whose path leads nowhere is told without it: ${path.join(".")}`, async (t) => {
    t.after(() => {
      shop.instead = null;
    });
    const entity = { reviews: [{ stars: 5 }] };
    shop.instead = ({ subgraph }) => (subgraph === "reviews" ? errorAt(path, { _entities: [entity] }) : null);
    const { data, errors } = (await run(shop, '{ product(upc: "upc-1") { reviews { stars } } }')) as Executed;
    assert.deepEqual(JSON.parse(data).product, entity);
    assert.deepEqual(errors, [{ message: "Odd.", extensions: { code: "CONFLICT" } }]);
  });

test("an error below a null has its whole path, in whichever of two fragments its field stands", async (t) => {
  t.after(() => {
    shop.instead = null;
  });
  const text = `{ product(upc: "upc-1") { ...A ...B } }
    fragment A on Product { reviews { stars author { id } } } fragment B on Product { reviews { body } }`;
  shop.instead = ({ subgraph }) =>
    subgraph === "reviews"
      ? errorAt(["_entities", 0, "reviews", 0, "author", "id"], { _entities: [{ reviews: null }] })
      : null;
  const { errors } = (await run(shop, text)) as Executed;
  assert.deepEqual(
    errors.map(({ path }) => path?.join(".")),
    ["product.reviews.0.author.id"],
  );
});

test("an Int that has more than 32 bits is an error at its place", async (t) => {
  t.after(() => {
    shop.instead = null;
  });
  for (const [stars, told] of [
    [2 ** 31 - 1, 0],
    [2 ** 31, 1],
    [-(2 ** 31), 0],
    [-(2 ** 31) - 1, 1],
  ] as const) {
    shop.instead = ({ subgraph }) =>
      subgraph === "reviews" ? { data: { _entities: [{ reviews: [{ stars }] }] } } : null;
    const { errors } = (await run(shop, '{ product(upc: "upc-1") { reviews { stars } } }')) as Executed;
    assert.equal(errors.length, told, String(stars));
  }
});

test("an error has the path of the field at fault, not of the null that it caused, or none", async () => {
  const graph = new TestSupergraph(strict);
  const cases: readonly [string, unknown, unknown, unknown[]][] = [
    ["{ items { id } }", { items: [{ id: "1" }, { id: null }] }, null, [["items", 1, "id"]]],
    ["{ items { key: id } }", { items: [{ id: "1" }, { id: [] }] }, null, [["items", 1, "key"]]],
    ["{ items { id } }", { items: [{ id: "1" }, null] }, null, [["items", 1]]],
    ["{ maybe { title id } }", { maybe: { title: 7, id: null } }, { maybe: null }, [["maybe", "id"]]],
  ];
  try {
    for (const [text, sent, expected, paths] of cases) {
      graph.instead = () => ({ data: sent });
      const { data, errors } = (await run(graph, text)) as Executed;
      assert.deepEqual(JSON.parse(data), expected, text);
      assert.deepEqual(
        errors.map(({ path }) => path),
        paths,
        text,
      );
    }
    graph.instead = () => ({ data: null, errors: [{ message: "No.", path: ["unknown"] }] });
    const { errors } = (await run(graph, "{ items { id } }")) as Executed;
    assert.deepEqual(errors, [{ message: "No." }]);
  } finally {
    await graph.close();
  }
});

const strict: SupergraphSource = {
  subgraphs: { a: "type Query { items: [Item!]! maybe: Item } type Item { id: ID! title: String }" },
  rules: {},
};

test("introspected objects are counted apart from those of subgraphs", async () => {
  const { objects, introspected } = (await run(shop, '{ __type(name: "User") { name fields { name } } }')) as Executed;
  const type = shop.api.getType("User");
  assert.ok(isObjectType(type));
  assert.deepEqual([objects, introspected], [1, 1 + Object.keys(type.getFields()).length]);
});
