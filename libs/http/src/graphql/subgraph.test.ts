import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import type { Principal } from "@signalbox/auth";
import { AppError, systemClock } from "@signalbox/core";
import type { Logger } from "@signalbox/runtime";
import { z } from "zod";
import { connectionField } from "./connection-field.ts";
import { field } from "./field.ts";
import { mutation } from "./mutation.ts";
import { encodePrincipal, principalHeader } from "./principal-header.ts";
import { createSubgraph } from "./subgraph.ts";

const typeDefs = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable"])
  scalar DateTime
  type Query { viewer: Account!  boom: String  names(first: Int, after: String): NameConnection! }
  type Mutation { rename(input: RenameInput!): RenamePayload! }
  input RenameInput { name: String! }
  type Account @key(fields: "id") { id: ID! createdAt: DateTime! }
  type NameConnection { edges: [NameEdge!]! pageInfo: PageInfo! }
  type NameEdge { cursor: String! node: String! }
  type PageInfo @shareable { hasNextPage: Boolean! endCursor: String }
  type RenamePayload { account: Account errors: [FieldError!]! }
  type FieldError @shareable { field: String message: String! }
`;

const principal: Principal = {
  accountId: "acc_ü",
  state: "active",
  epoch: 3,
  scopes: new Set(["account:read"]),
  roles: ["owner"],
  credential: { kind: "api-key", id: "key_1", authTimeMs: null },
  expiresAt: new Date("2026-01-01T00:00:00.000Z"),
};
const account = (id: string) => ({ id, createdAt: new Date("2026-01-01T00:00:00.000Z") });
const logged: unknown[] = [];
const log = { error: (fields: unknown) => void logged.push(fields) } as unknown as Logger;

const open = { scopes: [], optional: true } as const;
const server = createServer(
  createSubgraph({
    typeDefs,

    log,
    clock: systemClock,
    resolvers: {
      Query: {
        viewer: field({ scopes: [] }, (_parent, _args, { caller }) => account(caller.accountId)),
        boom: field(open, () => {
          throw new Error("connect ECONNREFUSED 10.0.0.7:5432");
        }),
        names: connectionField<unknown, object>(open, {
          limits: { maxPageSize: () => 3, pageSize: () => 2 },
          read: async ({ limit }) => ["a", "b", "c"].slice(0, limit).map((id) => ({ id, createdAt: new Date(0) })),
          node: ({ id }) => id,
        }),
      },
      Mutation: {
        rename: mutation({ ...open, input: z.object({ name: z.string() }), payload: "account" }, async ({ name }) => {
          if (name === "taken") throw new AppError("conflict", "Somebody has this name.");
          if (name === "") throw new AppError("validation_error", "A name is needed.", { field: "name" });
          return account(name);
        }),
      },
      Account: {
        __resolveReference: field(open, ({ id }: { id: string }, _args, context) =>
          account(id === "acc_own" ? context.caller.accountId : id),
        ),
      },
    },
  }),
);
before(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done)));
after(() => server.close());

async function post(body: unknown, headers: Record<string, string> = {}) {
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: "POST",
    headers,
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts the members it reads.
  return (await response.json()) as any;
}

test("the forwarded principal reaches the resolvers complete", async () => {
  const { data } = await post(
    { query: "{ viewer { id createdAt } }" },
    { [principalHeader]: encodePrincipal(principal) },
  );
  assert.deepEqual(data.viewer, { id: "acc_ü", createdAt: "2026-01-01T00:00:00.000Z" });
});

test("a field that requires a caller refuses anonymous ones as unauthorized", async () => {
  const { errors } = await post({ query: "{ viewer { id } }" });
  assert.equal(errors[0].extensions.code, "UNAUTHENTICATED");
});

test("a forged principal that cannot be read is refused", async () => {
  const { errors } = await post({ query: "{ viewer { id } }" }, { [principalHeader]: "%%%" });
  assert.equal(errors[0].extensions.code, "UNAUTHENTICATED");
});

test("an unexpected failure is logged once, hidden from the client", async () => {
  logged.length = 0;
  const answer = await post({ query: "{ boom }" });
  assert.equal(answer.errors[0].extensions.code, "INTERNAL");
  assert.ok(!JSON.stringify(answer).includes("10.0.0.7"));
  assert.equal(logged.length, 1);
});

test("a field failure of a mutation is in the payload, any other failure at the top", async () => {
  const refused = await post({
    query: 'mutation { rename(input: { name: "" }) { account { id } errors { field message } } }',
  });
  assert.deepEqual(refused.data.rename, { account: null, errors: [{ field: "name", message: "A name is needed." }] });
  const conflict = await post({ query: 'mutation { rename(input: { name: "taken" }) { account { id } } }' });
  assert.equal(conflict.errors[0].extensions.code, "CONFLICT");
});

test("a page above the maximum is refused, not reduced", async () => {
  const refused = await post({ query: "{ names(first: 4) { edges { cursor } } }" });
  assert.equal(refused.errors[0].extensions.code, "VALIDATION_FAILED");
  const { data } = await post({ query: "{ names { edges { cursor node } pageInfo { hasNextPage endCursor } } }" });
  assert.equal(data.names.pageInfo.hasNextPage, true);
  assert.equal(data.names.pageInfo.endCursor, data.names.edges[1].cursor);
});

test("entities are resolved by their key", async () => {
  const query = "query($r: [_Any!]!) { _entities(representations: $r) { ... on Account { id } } }";
  const { data } = await post({ query, variables: { r: [{ __typename: "Account", id: "acc_7" }] } });
  assert.deepEqual(data._entities, [{ id: "acc_7" }]);
});

test("an entity resolver gets the caller like every other resolver", async () => {
  const query = "query($r: [_Any!]!) { _entities(representations: $r) { ... on Account { id } } }";
  const own = { query, variables: { r: [{ __typename: "Account", id: "acc_own" }] } };
  const { data } = await post(own, { [principalHeader]: encodePrincipal(principal) });
  assert.deepEqual(data._entities, [{ id: "acc_ü" }]);
  assert.equal((await post(own)).errors[0].extensions.code, "UNAUTHENTICATED");
});

test("a root field or an entity without declared access stops the start", () => {
  const parts = { typeDefs, log, clock: systemClock };
  for (const resolvers of [{ Query: { boom: () => null } }, { Account: { __resolveReference: () => null } }]) {
    assert.throws(() => createSubgraph({ ...parts, resolvers }), /declares no access/);
  }
});

test("malformed requests are refused with a clear error", async () => {
  for (const body of ["", "[]", "{", '{"query":1}', '{"query":"{ viewer { id } }","variables":[]}', '{"query":"{"}']) {
    const { errors } = await post(body);
    assert.equal(errors[0].extensions.code, "VALIDATION_FAILED", body);
  }
});
