import assert from "node:assert/strict";
import { test } from "node:test";
import { composeServices } from "@apollo/composition";
import { createLogger } from "@signalbox/telemetry";
import { getOperationAST, parse } from "graphql";
import { openApolloExecutor } from "./apollo-executor.ts";
import type { OperationContext, SubgraphSender } from "./subgraph-sender.ts";

const head = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@requires", "@external"])`;
const supergraphOf = (...required: readonly string[]): string => {
  const fields = required.map((fields, at) => `f${at}: Int @requires(fields: "${fields}")`).join(" ");
  const { supergraphSdl } = composeServices([
    {
      name: "a",
      url: "",
      typeDefs: parse(`${head} type Query { p: P } type P @key(fields: "id") { id: ID! price(in: Int): Int }`),
    },
    {
      name: "b",
      url: "",
      typeDefs: parse(`${head} type P @key(fields: "id") { id: ID! price(in: Int): Int @external ${fields} }`),
    },
  ]);
  return supergraphSdl ?? assert.fail();
};

/** Each price is its argument times ten, and a field is the price that it requires. */
const senders = new Map<string, SubgraphSender>([
  ["a", async ({ body }) => sent({ p: { __typename: "P", id: "1", ...pricesIn(body) } })],
  ["b", async ({ body }) => sent({ _entities: JSON.parse(body).variables.representations.map(shownFor) })],
]);
const sent = (data: object) => ({ result: { data } }) as Awaited<ReturnType<SubgraphSender>>;
const pricesIn = (body: string) =>
  Object.fromEntries(
    [...(JSON.parse(body).query as string).matchAll(/(?:(\w+): ?)?price\(in: ?(\d+)\)/g)].map(([, alias, value]) => [
      alias ?? "price",
      Number(value) * 10,
    ]),
  );
const shownFor = ({ price }: { price: number }) => ({ f0: price });

const log = createLogger({ service: "gateway", instance: "test", level: "error" });

test("a supergraph that requires one value with different arguments is refused", async () => {
  const supergraphSdl = supergraphOf("price(in: 1)", "price(in: 2)");
  await assert.rejects(openApolloExecutor({ supergraphSdl, senders, log }), /P\.f0 requires P\.price\(in:1\)/);
});

test("a client's arguments never replace those of a requirement: it gives the field an alias", async () => {
  const supergraph = await openApolloExecutor({ supergraphSdl: supergraphOf("price(in: 1)"), senders, log });
  try {
    const ask = async (query: string) => {
      const document = parse(query);
      const operation = getOperationAST(document) ?? assert.fail();
      const asked = { query, document, operation, operationName: undefined, variables: {} };
      const { data, errors } = await supergraph.execute(asked, { fetches: [] } as unknown as OperationContext);
      return [JSON.parse(data), errors.map(({ message }) => message)];
    };
    assert.deepEqual(await ask("{ p { dear: price(in: 2) f0 } }"), [{ p: { dear: 20, f0: 10 } }, []]);
    const refusal = 'Other fields need "price" with arguments of their own. Give it an alias.';
    assert.deepEqual(await ask("{ p { price(in: 2) f0 } }"), [null, [refusal]]);
  } finally {
    await supergraph.close();
  }
});
