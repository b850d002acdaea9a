import assert from "node:assert/strict";
import { test } from "node:test";
import type { OpenApiDocument } from "../openapi/openapi-documents.ts";
import { resourcesFile } from "./client-resources.ts";

const item = { content: { "application/json": { schema: { $ref: "#/components/schemas/Parcel" } } } };
const body = { required: true, ...item };
const route = (operationId: string, more: object = {}) => ({
  operationId,
  tags: ["post"],
  responses: { 200: item },
  ...more,
});

function written(paths: object): string {
  const components = { schemas: { Parcel: {}, Error: {} }, responses: {} };
  return resourcesFile({ paths, components } as unknown as OpenApiDocument);
}

const parcels = {
  get: route("parcels", { parameters: [{ in: "query", name: "cursor" }] }),
  post: route("createParcel", { requestBody: body, parameters: [{ $ref: "#/components/parameters/IdempotencyKey" }] }),
};

test("a route becomes a method of the resource that its operation id names", () => {
  const text = written({
    "/parcels": parcels,
    "/parcels/{parcel_id}": { get: route("parcel"), delete: route("deleteParcel", { responses: { 204: {} } }) },
    "/parcels/{parcel_id}/label/rotate": { post: route("rotateParcelLabel") },
    "/parcels/delete": { post: route("deleteParcels", { requestBody: body }) },
    "/office": { get: route("openingHours") },
  });
  for (const line of [
    'list(query?: QueryOf<"parcels">, options?: CallOptions): Pages<AnswerOf<"parcels">["items"][number]>;',
    "create(body: Parcel, options?: CallOptions): Promise<Parcel>;",
    "get(parcelId: string, options?: CallOptions): Promise<Parcel>;",
    "delete(parcelId: string, options?: CallOptions): Promise<void>;",
    "rotateLabel(parcelId: string, options?: CallOptions): Promise<Parcel>;",
    "deleteMany(body: Parcel, options?: CallOptions): Promise<Parcel>;",
    "openingHours(options?: CallOptions): Promise<Parcel>;",
    'list: "GET /parcels qp",',
    'create: "POST /parcels bi",',
    'get: "GET /parcels/{parcel_id}",',
    'export type Parcel = components["schemas"]["Parcel"];',
  ]) {
    assert.ok(text.includes(line), `${line}\n${text}`);
  }
  assert.ok(!text.includes("export type Error"));
});

test("a route for browsers or with bytes in its body is no method", () => {
  const page = { content: { "text/html": { schema: {} } } };
  const text = written({
    "/parcels": parcels,
    "/page": { get: route("parcelPage", { responses: { 200: page } }) },
    "/parcels/{id}": {
      patch: route("appendToParcel", { requestBody: { content: { "application/partial-upload": { schema: {} } } } }),
    },
    "/docs": { get: route("docs", { tags: ["documents"] }) },
  });
  assert.ok(!/Page\(|append|docs/.test(text), text);
});

test("two methods of one name stop the generator", () => {
  const twice = {
    "/a": { post: route("sendParcel") },
    "/b": { post: route("sendParcels") },
    "/c": { post: route("sendParcel") },
  };
  assert.throws(
    () => written({ "/parcels": parcels, ...twice }),
    /sendParcel and another operation are both parcels.send/,
  );
});
