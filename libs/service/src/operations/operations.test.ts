import assert from "node:assert/strict";
import { after, test } from "node:test";
import { systemClock } from "@signalbox/core";
import { createSubgraph, type HttpResponse, ok, type RouteInput, refused } from "@signalbox/http";
import type { Logger } from "@signalbox/runtime";
import type { Tx } from "@signalbox/storage";
import { createSubgraphClient, serveListener, testPerson } from "@signalbox/testing";
import { z } from "zod";
import { edgesOf, joinEdges, list, listBelow, operation, record } from "./edges.ts";
import { ownRows } from "./reads.ts";

interface Parcel {
  readonly id: string;
  readonly label: string;
  readonly createdAt: Date;
}

const parcel = (id: string, label = "books"): Parcel => ({ id, label, createdAt: new Date(0) });
const limits = { maxPageSize: () => 3, pageSize: () => 2 };
const read = { scopes: ["images:read"] } as const;
const write = { scopes: ["images:write"], stepUpFor: "a heavy one" } as const;
const Resource = z.object({ id: z.string(), label: z.string() });
const show = ({ id, label }: Parcel): HttpResponse => ok({ id, label });
const statements: string[] = [];

const common = {
  json: z.strictObject({ sent_to: z.string().max(5) }),
  forCaller: async ({ accountId }: { readonly accountId: string }) =>
    z.strictObject({ sent_to: z.union([z.string().max(5), z.literal(accountId)]) }),
};

const edges = edgesOf(
  {
    parcels: list({
      summary: "List parcels",
      auth: read,
      limits,
      filter: { label: z.string().optional() },
      read: async (_range, { filter }) => [parcel("p_1", filter.label), parcel("p_2")],
      rest: { get: "/parcels", item: Resource, view: ({ id, label }) => ({ id, label }) },
    }),
    parcel: record({
      summary: "Read a parcel",
      auth: read,
      find: async ({ params }) => (params.parcel_id === "p_1" ? parcel("p_1") : null),
      missing: "There is no such parcel.",
      rest: { get: "/parcels/:parcel_id", resource: Resource, answer: show },
      graph: {
        type: "Parcel",
        load: ownRows(async (_caller, ids) => {
          statements.push(ids.join());
          return ids.filter((id) => id !== "p_9").map((id) => parcel(id));
        }),
      },
    }),
    stamps: listBelow({
      summary: "List the stamps of a parcel",
      auth: read,
      limits,
      filter: { colour: z.string().optional() },
      of: {
        type: "Parcel",
        find: async ({ params }) => (params.parcel_id === "p_1" ? parcel("p_1") : null),
        missing: "There is no such parcel.",
      },
      async read(_range, parcelIds, { filter }) {
        statements.push(`stamps of ${parcelIds.join()}`);
        return parcelIds.map((parcelId) => ({ ...parcel(`s_${parcelId}`, filter.colour), parcelId }));
      },
      parentId: ({ parcelId }) => parcelId,
      rest: { get: "/parcels/:parcel_id/stamps", item: Resource, view: ({ id, label }) => ({ id, label }) },
      graph: { field: "stamps" },
    }),
    labelParcel: operation({
      summary: "Label a parcel",
      auth: write,
      audit: "image.update",
      input: z.strictObject({ label: z.string().min(2), sent_by: z.record(z.string(), z.unknown()).optional() }),
      async act({ params, input }) {
        if (input.label === "taken") return { outcome: "taken", by: params.parcel_id } as const;
        if (input.label === "away") return { outcome: "switched-off" } as const;
        const label = input.sent_by ? JSON.stringify(input.sent_by) : input.label;
        return { outcome: "labelled", parcel: parcel(params.parcel_id, label) } as const;
      },
      refusals: {
        "switched-off": { code: "forbidden", message: "Labels are switched off." },
        taken: ({ by }) => ({
          code: "validation_error",
          message: "Taken.",
          details: [{ field: "sent_by", code: "invalid", message: `Taken by ${by}.` }],
        }),
      },
      rest: {
        patch: "/parcels/:parcel_id",
        responses: { 200: Resource },
        idempotent: true,
        answer: ({ parcel: labelled }) => show(labelled),
      },
      graph: {
        payload: { parcel: (success) => success.parcel, labelledId: (_, { params }) => params.parcel_id },
        type: "LabelParcelPayload",
        names: { parcel_id: "id" },
        keysInInput: true,
        raw: ["sentBy"],
      },
    }),
    postParcel: operation({
      summary: "Post a parcel",
      auth: { scopes: ["images:write"] },
      audit: "image.update",
      input: z.strictObject({ label: z.string() }),
      act: ({ input, inSharedTransaction }): Promise<{ outcome: "full" } | { outcome: "posted"; posted: Parcel }> =>
        inSharedTransaction(async (complete) => {
          if (input.label === "full") return { outcome: "full" };
          const result = { outcome: "posted", posted: parcel("p_1", input.label) } as const;
          await complete?.({} as Tx, result);
          return result;
        }),
      refusals: { full: { code: "conflict", message: "It is full." } },
      rest: {
        post: "/parcels/:parcel_id/post",
        responses: { 200: Resource },
        idempotent: true,
        answer: ({ posted }) => show(posted),
      },
    }),
    packParcel: operation({
      summary: "Pack a parcel",
      auth: { scopes: ["images:write"] },
      audit: "image.update",
      input: z.strictObject({ label: z.string() }),
      act: ({ input, inTransaction }) =>
        inTransaction(async () =>
          input.label === "full" ? ({ outcome: "full" } as const) : parcel("p_1", input.label),
        ),
      refusals: { full: { code: "conflict", message: "It is full." } },
      rest: { post: "/parcels/:parcel_id/pack", responses: { 200: Resource }, idempotent: true, answer: show },
    }),
    sendParcel: operation({
      summary: "Send a parcel",
      auth: { scopes: ["images:write"] },
      audit: "image.update",
      params: z.object({ parcel_id: z.string().regex(/^p_/) }),
      input: common,
      act: async ({ params, input }) => parcel(params.parcel_id, input.sent_to),
      rest: { post: "/parcels/:parcel_id/send", responses: { 200: Resource }, mergePatch: true, answer: show },
      graph: { payload: "parcel", names: { parcel_id: "id" } },
    }),
  },
  { exampleIds: { parcel_id: "p_1" }, fields: { Parcel: { short: ({ label }: Parcel) => label.slice(0, 1) } } },
);

const typeDefs = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])
  scalar DateTime
  scalar JSON
  type Query { unused: String }
  type Mutation {
    labelParcel(input: LabelParcelInput!): LabelParcelPayload
    sendParcel(id: ID!, input: SendParcelInput!): ParcelPayload
  }
  input LabelParcelInput { id: ID!  label: String!  sentBy: JSON }
  input SendParcelInput { sentTo: String! }
  type LabelParcelPayload { parcel: Parcel  labelledId: ID  errors: [FieldError!]! }
  type ParcelPayload { parcel: Parcel  errors: [FieldError!]! }
  type FieldError { field: String  code: String!  message: String! }
  type Parcel @key(fields: "id") { id: ID!  label: String!  short: String!  stamps(first: Int, after: String, colour: String): Parcels }
  type Account @key(fields: "id") { id: ID!  parcels(first: Int, after: String, label: String): Parcels }
  type Parcels { edges: [ParcelEdge!]! }
  type ParcelEdge { node: Parcel! }
`;

const log = { error: (...logged: unknown[]) => assert.fail(JSON.stringify(logged)) } as unknown as Logger;
const served = await serveListener(createSubgraph({ typeDefs, resolvers: edges.resolvers, log, clock: systemClock }));
after(() => served.close());
const ask = createSubgraphClient(served.url);
const who = testPerson({ scopes: ["images:read", "images:write"] });

const routeOf = (operationId: string) => {
  const route = edges.routes.list.find(({ spec }) => spec.operationId === operationId);
  assert.ok(route, operationId);
  return route;
};

test("each declaration has a route of its name with its guards and refusals", () => {
  const routes = edges.routes.list.map(({ method, path, spec }) => [spec.operationId, `${method} ${path}`]);
  assert.deepEqual(Object.fromEntries(routes), {
    parcels: "get /parcels",
    parcel: "get /parcels/:parcel_id",
    stamps: "get /parcels/:parcel_id/stamps",
    labelParcel: "patch /parcels/:parcel_id",
    postParcel: "post /parcels/:parcel_id/post",
    packParcel: "post /parcels/:parcel_id/pack",
    sendParcel: "post /parcels/:parcel_id/send",
  });
  const { auth, audit, idempotent, responses, exampleIds } = routeOf("labelParcel").spec;
  assert.deepEqual(
    { auth, audit, idempotent, exampleIds },
    {
      auth: write,
      audit: "image.update",
      idempotent: true,
      exampleIds: { parcel_id: "p_1" },
    },
  );
  assert.deepEqual(
    Object.entries(responses)
      .filter(([, response]) => response === "error")
      .map(([status]) => status),
    ["403", "409"],
  );
});

test("a mutation takes its keys from the input, keeps the caller's own JSON, and builds every member", async () => {
  const mutation = `mutation($input: LabelParcelInput!) {
    labelParcel(input: $input) { parcel { id label short } labelledId errors { field code message } }
  }`;
  const label = async (input: object) =>
    (await ask(who, mutation, { input: { id: "p_7", label: "xy", ...input } })).data;
  assert.deepEqual((await label({ sentBy: { ownName: 1 } })).labelParcel, {
    parcel: { id: "p_7", label: '{"ownName":1}', short: "{" },
    labelledId: "p_7",
    errors: [],
  });
  const refused = { parcel: null, labelledId: null };
  assert.deepEqual((await label({ label: "taken" })).labelParcel, {
    ...refused,
    errors: [{ field: "sentBy", code: "invalid", message: "Taken by p_7." }],
  });
  assert.deepEqual(
    (await label({ label: "x" })).labelParcel.errors.map(({ field }: { field: string }) => field),
    ["label"],
  );
});

test("a refusal that is about no field is an error of the mutation", async () => {
  const text = 'mutation { labelParcel(input: { id: "p_7", label: "away" }) { labelledId } }';
  const { data, errors } = await ask(who, text);
  assert.deepEqual([data.labelParcel, errors[0].extensions.code], [null, "FORBIDDEN"]);
  const stranger = await ask(testPerson({ scopes: ["images:read"] }), text);
  assert.equal(stranger.errors[0].extensions.code, "FORBIDDEN");
});

test("values are judged by the common rules or else the caller's, keys by their own", async () => {
  const send = (id: string, sentTo: string) =>
    ask(
      who,
      "mutation($id: ID!, $input: SendParcelInput!) { sendParcel(id: $id, input: $input) { parcel { label } errors { field } } }",
      {
        id,
        input: { sentTo },
      },
    );
  assert.equal((await send("p_1", "near")).data.sendParcel.parcel.label, "near");
  assert.equal((await send("p_1", who.accountId)).data.sendParcel.parcel.label, who.accountId);
  assert.deepEqual((await send("p_1", "far away")).data.sendParcel.errors, [{ field: "sentTo" }]);
  assert.equal((await send("q_1", "near")).errors[0].extensions.code, "NOT_FOUND");
});

test("entities of one request are one statement; a list takes its filters at both edges", async () => {
  const entities = (of: readonly object[], selection: string) =>
    ask(who, `query($of: [_Any!]!) { _entities(representations: $of) { ${selection} } }`, { of });
  const ids = ["p_1", "p_2", "p_9"].map((id) => ({ __typename: "Parcel", id }));
  const { data } = await entities(ids, "... on Parcel { id }");
  assert.deepEqual(data._entities, [{ id: "p_1" }, { id: "p_2" }, null]);
  assert.deepEqual(statements, ["p_1,p_2,p_9"]);

  const own = [{ __typename: "Account", id: who.accountId }];
  const listed = await entities(own, '... on Account { parcels(label: "toys") { edges { node { label } } } }');
  assert.equal(listed.data._entities[0].parcels.edges[0].node.label, "toys");
  const others = [{ __typename: "Account", id: testPerson().accountId }];
  assert.equal(
    (await entities(others, "... on Account { parcels { edges { node { label } } } }")).errors[0].extensions.code,
    "FORBIDDEN",
  );

  const { handle } = routeOf("parcels").spec;
  const page = (await handle?.({ caller: who, query: { limit: 1, label: "toys" } } as never)) as HttpResponse;
  const { items, has_more: hasMore } = (page.body as { readonly value: { items: object[]; has_more: boolean } }).value;
  assert.deepEqual([items, hasMore], [[{ id: "p_1", label: "toys" }], true]);
});

test("a list below a row is a page over REST; those of many rows are one statement in the graph", async () => {
  const { handle } = routeOf("stamps").spec;
  const page = (parcelId: string) =>
    handle?.({ caller: who, params: { parcel_id: parcelId }, query: { limit: 1, colour: "red" } } as never);
  const { body } = (await page("p_1")) as HttpResponse & { readonly body: { readonly value: { items: object[] } } };
  assert.deepEqual(body.value.items, [{ id: "s_p_1", label: "red" }]);
  assert.deepEqual(await page("p_9"), refused(404, "not_found", { message: "There is no such parcel." }));
  statements.length = 0;
  const of = ["p_1", "p_2"].map((id) => ({ __typename: "Parcel", id }));
  const { data } = await ask(
    who,
    'query($of: [_Any!]!) { _entities(representations: $of) { ... on Parcel { stamps(colour: "blue") { edges { node { id label } } } } } }',
    { of },
  );
  const listed = data._entities.map(({ stamps }: { stamps: { edges: { node: object }[] } }) => stamps.edges[0]?.node);
  assert.deepEqual(listed, [
    { id: "s_p_1", label: "blue" },
    { id: "s_p_2", label: "blue" },
  ]);
  assert.deepEqual(statements, ["p_1,p_2", "stamps of p_1,p_2"]);
});

for (const operationId of ["packParcel", "postParcel"])
  test(`over REST ${operationId} stores the answer of a success alone, with its effect`, async () => {
    const { handle } = routeOf(operationId).spec;
    const tx = {} as Tx;
    const stored: unknown[] = [];
    const exchange = (label: string) =>
      ({
        caller: who,
        params: { parcel_id: "p_1" },
        body: { label },
        idempotency: { complete: async (...given: unknown[]) => void stored.push(given) },
        inTransaction: <T>(work: (tx: Tx) => Promise<T>) => work(tx),
      }) as unknown as RouteInput<never, unknown, unknown, unknown>;
    const labelled = await handle?.(exchange("toys"));
    assert.deepEqual(labelled, ok({ id: "p_1", label: "toys" }));
    assert.deepEqual(stored, [[tx, labelled]]);
    assert.equal((await handle?.(exchange("full")))?.status, 409);
    assert.equal(stored.length, 1);
    const missing = await routeOf("parcel").spec.handle?.({ caller: who, params: { parcel_id: "p_9" } } as never);
    assert.deepEqual(missing, refused(404, "not_found", { message: "There is no such parcel." }));
  });

test("two capabilities cannot resolve the same field", () => {
  const fields = { Parcel: { short: () => "" } };
  assert.throws(() => joinEdges([edges, { resolvers: fields }]), { message: "two tables resolve Parcel.short" });
});
