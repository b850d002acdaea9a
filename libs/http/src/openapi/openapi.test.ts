import assert from "node:assert/strict";
import test from "node:test";
import { gunzipSync } from "node:zlib";
import { AccountResource, accountExample } from "@signalbox/contracts";
import { z } from "zod";
import { serveRoutes } from "../../test/edge-fixture.ts";
import { pageOf, pageParameters } from "../lists/pagination.ts";
import { createDocumentAnswer } from "../responses/document-answer.ts";
import { createRoutes } from "../routes/create-routes.ts";
import { noContent, ok } from "../routes/http-response.ts";
import { mergeOpenApi, openApiDocument } from "./openapi-document.ts";
import { describePathParameter } from "./openapi-texts.ts";
import { simplifySchemas } from "./simplify-schemas.ts";

const info = { title: "Accounts", version: "1.0.0" };

function routes() {
  const table = createRoutes();
  const limits = { maxPageSize: () => 100, pageSize: () => 20 };
  table.get("/accounts", {
    summary: "List",
    auth: { scopes: ["account:admin"] },
    query: z.object(pageParameters(limits)),
    responses: { 200: pageOf(AccountResource) },
    handle: () => ok({ items: [], has_more: false }),
  });
  table.patch("/accounts/:account_id", {
    operationId: "updateAccount",
    summary: "Change",
    auth: { scopes: ["account:admin"], stepUp: true },
    body: { json: z.strictObject({ name: z.string().optional() }), mergePatch: true },
    responses: { 200: AccountResource },
    handle: () => noContent(),
  });
  table.post("/files", {
    summary: "Upload",
    auth: "anonymous",
    body: { multipart: true, form: z.object({ file: z.string().meta({ format: "binary" }) }) },
    responses: { 201: AccountResource },
    handle: () => noContent(),
  });
  return table;
}

type Node = { readonly [name: string]: Node } & { readonly length: number };

test("the document describes schemas, statuses, security and parameters of every route", () => {
  const document = openApiDocument(routes(), info) as unknown as Node;
  assert.equal(document.openapi as unknown, "3.1.0");
  const patch = document.paths?.["/accounts/{account_id}"]?.patch as Node;
  assert.equal(patch.operationId as unknown, "updateAccount");
  const reference = { $ref: "#/components/schemas/Account" };
  assert.deepEqual(patch.responses?.["200"], { $ref: "#/components/responses/Account" });
  const shown = document.components?.responses?.Account?.content?.["application/json"];
  assert.deepEqual(shown?.schema, reference);
  for (const status of ["204", "400", "401", "403", "404", "409", "413", "415", "422", "429", "500", "503"]) {
    assert.ok(patch.responses?.[status], status);
  }
  assert.deepEqual(Object.keys(patch.requestBody?.content as Node).sort(), [
    "application/json",
    "application/merge-patch+json",
  ]);
  assert.deepEqual((patch.security as unknown as object[])[0], { bearer: ["account:admin"] });
  const list = document.paths?.["/accounts"]?.get as Node;
  const parameters = list.parameters as unknown as { name?: string; $ref?: string }[];
  assert.deepEqual(
    parameters.map(({ name, $ref }) => name ?? $ref?.split("/").at(-1)),
    ["limit", "cursor", "RequestId", "IfNoneMatch"],
  );
  assert.deepEqual(Object.keys(document.components?.schemas as Node).sort(), ["Account", "Error"]);
});

test("a refusal that is a page is documented beside the refusals of every route", () => {
  const table = createRoutes();
  const page = { content: ["text/html"] } as const;
  table.get("/page", {
    summary: "Page",
    auth: "anonymous",
    responses: { 200: page, 404: page },
    handle: () => noContent(),
  });
  const document = openApiDocument(table, info) as unknown as Node;
  const get = document.paths?.["/page"]?.get as Node;
  assert.deepEqual(Object.keys(get.responses?.["200"]?.content as Node), ["text/html"]);
  assert.deepEqual(Object.keys(get.responses?.["404"]?.content as Node), ["text/html", "application/json"]);
});

test("equal answers, headers and examples are written once", () => {
  const { paths, components } = openApiDocument(routes(), info) as unknown as Node;
  const patch = paths?.["/accounts/{account_id}"]?.patch as Node;
  const reference = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });
  assert.deepEqual(patch.responses?.["404"], reference("responses", "NotFound"));
  assert.deepEqual(components?.responses?.NotFound?.headers?.["X-Request-Id"], reference("headers", "RequestId"));
  assert.deepEqual(patch.responses?.["200"], reference("responses", "Account"));
  const shown = components?.responses?.Account?.content?.["application/json"] as Node;
  assert.deepEqual(shown.examples, { Account: reference("examples", "Account") });
  assert.deepEqual(components?.examples?.Account?.value, accountExample);
});

test("a list documents an example page, under a path with an example id", () => {
  const table = createRoutes({ exampleIds: { account_id: accountExample.id } });
  table.get("/accounts/:account_id/friends/", {
    summary: "List",
    auth: "anonymous",
    responses: { 200: pageOf(AccountResource) },
    handle: () => noContent(),
  });
  const { paths } = openApiDocument(table, info) as unknown as Node;
  const get = paths?.["/accounts/{account_id}/friends"]?.get as Node;
  const shown = get.responses?.["200"]?.content?.["application/json"] as Node;
  assert.deepEqual(shown.example, { items: [accountExample], has_more: false });
  assert.equal((get.parameters as unknown as { example?: string }[])[0]?.example, accountExample.id);
});

test("every reference of the document resolves", () => {
  const document = openApiDocument(routes(), info);
  for (const [, path = ""] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const target = path.split("/").reduce<unknown>((node, part) => (node as Record<string, unknown>)?.[part], document);
    assert.ok(target, path);
  }
});

test("a service serves its document to everyone, with a validator", async (t) => {
  const { url } = await serveRoutes(t, routes(), { openapi: info });
  const response = await fetch(`${url}/openapi/account.json`);
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), openApiDocument(routes(), info));
  const etag = response.headers.get("etag") ?? "";
  assert.equal((await fetch(`${url}/openapi/account.json`, { headers: { "if-none-match": etag } })).status, 304);
});

test("documents merge into one, unless a name has two meanings", () => {
  const document = openApiDocument(routes(), info);
  const merged = mergeOpenApi([document, openApiDocument(createRoutes(), info)], info) as unknown as Node;
  assert.deepEqual(Object.keys(merged.paths as Node), Object.keys(document.paths as object));
  const other = { paths: {}, components: { schemas: { Account: { type: "string" } } } };
  assert.throws(() => mergeOpenApi([document, other], info), /schemas\/Account/);
});

test("a document is gzipped only for those who accept it, under an ETag of its own", () => {
  const answer = createDocumentAnswer("{}", "application/json");
  const plain = answer({});
  const packed = answer({ "accept-encoding": "br;q=0.5, gzip" });
  assert.equal(packed.headers?.["Content-Encoding"], "gzip");
  assert.equal(gunzipSync((packed.body as unknown as { bytes: Buffer }).bytes).toString(), "{}");
  assert.notEqual(packed.etag, plain.etag);
  for (const accepted of ["gzip;q=0", "identity", "br", "*;q=0, identity"]) {
    assert.equal(answer({ "accept-encoding": accepted }).headers?.["Content-Encoding"], undefined, accepted);
  }
});

test("a parameter of a path is described by its place", () => {
  assert.equal(describePathParameter("/webhooks/deliveries/:id", "id"), "The id of the delivery.");
  assert.equal(describePathParameter("/accounts/:account_id/api-keys/:key_id", "key_id"), "The id of the key.");
  assert.equal(describePathParameter("/event-types/:name", "name"), "The name of the event type.");
});

test("a nullable value is described where a reader looks", () => {
  const schema = { anyOf: [{ type: "string", description: "The end." }, { type: "null" }] };
  const example = { anyOf: [{ description: "data" }, { type: "null" }] };
  const document = { schema, example };
  simplifySchemas(document);
  assert.deepEqual(document, {
    schema: { anyOf: [{ type: "string" }, { type: "null" }], description: "The end." },
    example: { anyOf: [{ description: "data" }, { type: "null" }] },
  });
});

test("the default size of a page is documented", () => {
  const { paths } = openApiDocument(routes(), info) as unknown as Node;
  const [limit] = (paths?.["/accounts"]?.get?.parameters ?? []) as unknown as { schema: object }[];
  assert.deepEqual(limit?.schema, {
    type: "integer",
    minimum: 1,
    maximum: 100,
    default: 20,
    description: "Items on the page.",
  });
});
