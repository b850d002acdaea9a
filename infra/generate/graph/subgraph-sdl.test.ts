import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { ok } from "@signalbox/http";
import { edgesOf, operation, record } from "@signalbox/service";
import { buildSchema, type GraphQLField, isEnumType, specifiedScalarTypes } from "graphql";
import { z } from "zod";
import { subgraphSdl } from "./subgraph-sdl.ts";

const Parcel = z
  .object({
    id: z.string(),
    account_id: z.string(),
    weight_grams: z.int().describe("With its `box_id`."),
    box_id: z.string().nullable(),
    state: z.enum(["sent", "lost"]).describe("The state."),
    labels: z.record(z.string(), z.string()),
  })
  .meta({ id: "Parcel", description: "A parcel." });

const read = { scopes: ["images:read"] } as const;
const common = "scalar JSON type FieldError { code: String! }";
const edges = edgesOf({
  parcel: record({
    summary: "Read a parcel",
    auth: read,
    find: async () => null,
    missing: "There is no such parcel.",
    rest: { get: "/parcels/:parcel_id", resource: Parcel, answer: () => ok({}) },
    graph: { type: "Parcel", load: async () => null },
  }),
  sendParcel: operation({
    summary: "Send a parcel",
    auth: read,
    audit: { unaudited: "It is a test." },
    input: z.strictObject({ sent_to: z.string().describe("The address."), fast: z.boolean().default(false) }),
    act: async () => ({}),
    rest: { post: "/parcels/:parcel_id/send", responses: { 200: Parcel }, answer: () => ok({}) },
    graph: { payload: "parcel", names: { parcel_id: "id" } },
  }),
});

const sdlOf = (byHand: string): string =>
  subgraphSdl({
    byHand,
    common,
    resolvers: edges.resolvers,
    routes: edges.routes.list,
    resources: new Map([["Parcel", Parcel]]),
  });

test("a type has the members of its resource in the names of the graph", () => {
  const sdl = sdlOf("scalar JSON");
  assert.match(sdl, /"A parcel."\ntype Parcel @key\(fields: "id"\) {\n {2}"The id of the parcel."\n {2}id: ID!\n/);
  assert.match(sdl, /"With its `boxId`."\n {2}weightGrams: Int!\n {2}boxId: ID\n/);
  assert.match(sdl, /"The state. One of `sent`, `lost`."\n {2}state: String!\n {2}labels: JSON!\n}/);
  assert.doesNotMatch(sdl, /accountId/);
});

test("a mutation has the keys, the input and the payload of its operation", () => {
  const sdl = sdlOf("scalar JSON");
  assert.match(
    sdl,
    /"Send a parcel."\n {2}sendParcel\(\s+"The id of the parcel."\s+id: ID!\s+".+"\s+input: SendParcelInput!\s+\): ParcelPayload\n/,
  );
  assert.match(
    sdl,
    /"The input of `sendParcel`."\ninput SendParcelInput {\n {2}"The address."\n {2}sentTo: String!\n {2}fast: Boolean\n}/,
  );
  assert.match(
    sdl,
    /type ParcelPayload {\n {2}"The parcel; null after a refusal."\n {2}parcel: Parcel\n {2}".+"\n {2}errors: \[FieldError!\]!\n}/,
  );
});

test("what is written by hand takes the place of a member and keeps its text", () => {
  const sdl = sdlOf('enum ParcelState type Parcel @without(fields: "labels boxId") { weightGrams: Float! }');
  assert.match(sdl, /"With its `boxId`."\n {2}weightGrams: Float!\n/);
  assert.match(sdl, /enum ParcelState {\n {2}sent\n {2}lost\n}/);
  assert.match(sdl, / {2}state: ParcelState!\n/);
  assert.doesNotMatch(sdl, /labels|boxId:|@without/);
});

test("every type, member, argument or value of the graph has a description", async () => {
  const reference = new URL("../../../docs/reference/graphql-schema.graphql", import.meta.url);
  const types = Object.values(buildSchema(await readFile(reference, "utf8")).getTypeMap());
  const all = types.filter(
    ({ name }) => !name.startsWith("__") && !specifiedScalarTypes.some((one) => one.name === name),
  );
  const without = all.flatMap((type) => {
    const fields = "getFields" in type ? Object.values<GraphQLField<unknown, unknown>>(type.getFields() as never) : [];
    const values = isEnumType(type) ? type.getValues() : [];
    const members = [...values, ...fields, ...fields.flatMap(({ args = [] }) => args)];
    return [type, ...members].filter(({ description }) => !description).map(({ name }) => `${type.name}.${name}`);
  });
  assert.ok(all.length > 200);
  assert.deepEqual(without, []);
});

test("a type without a source is refused by its name", () => {
  assert.throws(() => sdlOf("type Query { box: Box }"), /Box is neither a resource nor written by hand/);
});
