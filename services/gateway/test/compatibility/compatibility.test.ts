import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { composeServices } from "@apollo/composition";
import { openExecutor } from "@signalbox/federation";
import type { ServedListener } from "@signalbox/testing";
import {
  getOperationAST,
  Kind,
  type ObjectTypeDefinitionNode,
  type ObjectTypeExtensionNode,
  parse,
  print,
  stripIgnoredCharacters,
} from "graphql";
import {
  type CompatibilitySubgraph,
  compatibilitySubgraphs,
  serveCompatibilitySubgraph,
  typeDefsOf,
} from "./subgraphs.ts";

/** A caller without a budget. */
const caller = { id: "test", admit() {}, charge() {} };

/**
 * The 22 tests of @apollo/federation-subgraph-compatibility-tests 1.2.1 that are not about ftv1, with its schemas (MIT). Its
 * runner wants docker, Apollo's router and jest; here its queries go to our subgraphs and through our executor.
 */
const served = new Map<CompatibilitySubgraph, ServedListener>();
let executor: Awaited<ReturnType<typeof openExecutor<null>>>;
let sdl: string;

before(async () => {
  const composed = composeServices(
    await Promise.all(
      compatibilitySubgraphs.map(async (name) => ({
        name,
        url: `http://${name}`,
        typeDefs: parse(await typeDefsOf(name)),
      })),
    ),
  );
  assert.ifError(composed.errors);
  for (const name of compatibilitySubgraphs) served.set(name, await serveCompatibilitySubgraph(name));
  executor = await openExecutor<null>({
    supergraphSdl: composed.supergraphSdl ?? "",
    planMsMax: 10_000,
    planBytesMax: 2 ** 20,
    send: ({ subgraph, body }) => post(subgraph as CompatibilitySubgraph, body),
  });
  const { data } = await ask("products", "query { _service { sdl } }");
  sdl = stripIgnoredCharacters(data._service.sdl);
});
after(async () => {
  await executor.close();
  await Promise.all([...served.values()].map((listener) => listener.close()));
});

// biome-ignore lint/suspicious/noExplicitAny: each test asserts what it reads.
async function post(name: CompatibilitySubgraph, body: string): Promise<any> {
  const url = served.get(name)?.url ?? assert.fail(name);
  const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  return answer.json();
}

const ask = (name: CompatibilitySubgraph, query: string, variables: object = {}) =>
  post(name, JSON.stringify({ query, variables }));

async function askRouter(query: string, variables: Record<string, unknown>) {
  const document = parse(query);
  const operation = getOperationAST(document) ?? assert.fail();
  const answer = await executor.execute({ text: query, document, operation, variables, context: null, caller });
  return { data: JSON.parse(answer.data), ...(answer.errors.length > 0 && { errors: answer.errors }) };
}

/** Lines that the SDL of the products subgraph must have, without what a parser ignores. */
const inSdl: Readonly<Record<string, readonly RegExp[]>> = {
  "@composeDirective": [
    /schema.*(@composeDirective|@federation__composeDirective)\(name:.*"@custom"\)/,
    /directive.*@custom on OBJECT/,
    /type Product.*@custom.*\{/,
  ],
  "@inaccessible": [/unit:String@inaccessible/],
  "@interfaceObject": [
    /type Inventory.*(@interfaceObject|@federation__interfaceObject)/,
    /type Inventory.*(@key|@federation__key)\(fields:"id"( resolvable:true)?\)/,
  ],
  "@key of one field": [
    /type User(@extends|@federation__extends)?(@key|@federation__key)\(fields:"email"( resolvable:true)?\)/,
  ],
  "@key of several fields": [/type DeprecatedProduct(@key|@federation__key)\(fields:"sku package"/],
  "@key of an object's field": [/type ProductResearch(@key|@federation__key)\(fields:"study { caseNumber }"/],
  "@key more than once": [
    /type Product.*(@key|@federation__key)\(fields:"id"( resolvable:true)?\).*\{/,
    /type Product.*(@key|@federation__key)\(fields:"sku package"( resolvable:true)?\).*variation/,
    /type Product.*(@key|@federation__key)\(fields:"sku variation { id }"( resolvable:true)?\).*\{/,
  ],
  "@override": [/(@override|@federation__override)\(from:"users"\)/],
  "@shareable": [/type ProductDimension(@shareable|@federation__shareable)/],
  "@tag": [/@tag\(name:"internal"\)/],
};

for (const [directive, patterns] of Object.entries(inSdl))
  test(`the SDL of a subgraph has ${directive}`, () => {
    for (const pattern of patterns) assert.match(sdl, pattern);
    assert.doesNotMatch(sdl, /@federation__(tag|inaccessible)/);
  });

test("the SDL of a subgraph imports what its one version of federation has", () => {
  const links = sdl.match(/@link\([^)]+\)/g) ?? [];
  const federation = links.filter((link) => link.includes("https://specs.apollo.dev/federation/v"));
  assert.equal(federation.length, 1);
  assert.match(federation[0] ?? "", /federation\/v2\.[0-3]"/);
});

test("the SDL of a subgraph has every field of every type of the reference", async () => {
  const fieldsIn = (text: string) =>
    new Map(
      parse(text).definitions.flatMap((definition) => {
        const { kind } = definition;
        if (kind !== Kind.OBJECT_TYPE_DEFINITION && kind !== Kind.OBJECT_TYPE_EXTENSION) return [];
        const { name, fields = [] } = definition as ObjectTypeDefinitionNode | ObjectTypeExtensionNode;
        return fields.map((one) => {
          const given = (one.arguments ?? []).map((argument) => `${argument.name.value}:${print(argument.type)}`);
          return [`${name.value}.${one.name.value}`, `${given.join()} ${print(one.type)}`] as const;
        });
      }),
    );
  const own = fieldsIn(sdl);
  for (const [name, type] of fieldsIn(await typeDefsOf("products"))) assert.equal(own.get(name), type, name);
});

const entities = (members: string) =>
  `query ($representations: [_Any!]!) { _entities(representations: $representations) { ${members} } }`;
const ofFederation = { id: "apollo-federation" };

/** Queries to the products subgraph itself, and what they give. */
const ofSubgraph: Readonly<Record<string, { query: string; variables: object; data: object }>> = {
  "a field that is inaccessible": {
    query: "query ($id: ID!) { product(id: $id) { dimensions { unit } } }",
    variables: ofFederation,
    data: { product: { dimensions: { unit: "kg" } } },
  },
  "an entity by one field": {
    query: entities("... on User { email name }"),
    variables: { representations: [{ __typename: "User", email: "support@apollographql.com" }] },
    data: { _entities: [{ email: "support@apollographql.com", name: "Jane Smith" }] },
  },
  "an entity by several fields": {
    query: entities("... on DeprecatedProduct { sku package reason }"),
    variables: {
      representations: [
        { __typename: "DeprecatedProduct", sku: "apollo-federation-v1", package: "@apollo/federation-v1" },
      ],
    },
    data: {
      _entities: [
        { sku: "apollo-federation-v1", package: "@apollo/federation-v1", reason: "Migrate to Federation V2" },
      ],
    },
  },
  "an entity by a field of an object": {
    query: entities("... on ProductResearch { study { caseNumber description } }"),
    variables: { representations: [{ __typename: "ProductResearch", study: { caseNumber: "1234" } }] },
    data: { _entities: [{ study: { caseNumber: "1234", description: "Federation Study" } }] },
  },
  "an entity by each of its keys": {
    query: entities("... on Product { id sku }"),
    variables: {
      representations: [
        { __typename: "Product", id: "apollo-federation" },
        { __typename: "Product", sku: "federation", package: "@apollo/federation" },
        { __typename: "Product", sku: "studio", variation: { id: "platform" } },
      ],
    },
    data: {
      _entities: [
        { id: "apollo-federation", sku: "federation" },
        { id: "apollo-federation", sku: "federation" },
        { id: "apollo-studio", sku: "studio" },
      ],
    },
  },
  "what a field provides": {
    query: "query ($id: ID!) { product(id: $id) { createdBy { email totalProductsCreated } } }",
    variables: ofFederation,
    data: { product: { createdBy: { email: "support@apollographql.com", totalProductsCreated: 1_337 } } },
  },
};

for (const [what, { query, variables, data }] of Object.entries(ofSubgraph))
  test(`a subgraph gives ${what}`, async () => {
    assert.deepEqual(await ask("products", query, variables), { data });
  });

/** Queries over all three, through the executor. */
const ofRouter: Readonly<Record<string, { query: string; variables: Record<string, unknown>; data: object }>> = {
  "a field that another subgraph adds to an interface": {
    query: "query ($id: ID!) { inventory(id: $id) { deprecatedProducts { sku reason } } }",
    variables: { id: "apollo-oss" },
    data: { inventory: { deprecatedProducts: [{ sku: "apollo-federation-v1", reason: "Migrate to Federation V2" }] } },
  },
  "a field that is overridden": {
    query: "query GetProduct($id: ID!) { product(id: $id) { createdBy { name } } }",
    variables: ofFederation,
    data: { product: { createdBy: { name: "Jane Smith" } } },
  },
  "a field that requires those of another subgraph": {
    query: "query ($id: ID!) { product(id: $id) { createdBy { averageProductsCreatedPerYear email } } }",
    variables: ofFederation,
    data: { product: { createdBy: { averageProductsCreatedPerYear: 134, email: "support@apollographql.com" } } },
  },
  "a type that is shared": {
    query: "query GetProduct($id: ID!) { product(id: $id) { dimensions { size weight } } }",
    variables: ofFederation,
    data: { product: { dimensions: { size: "small", weight: 1 } } },
  },
};

for (const [what, { query, variables, data }] of Object.entries(ofRouter))
  test(`the executor gives ${what}`, async () => {
    assert.deepEqual(await askRouter(query, variables), { data });
  });
