import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { z } from "zod";
import { errorOf, serveRoutes } from "../../test/edge-fixture.ts";
import { integerParameter } from "../request/parameters.ts";
import { createRoutes } from "../routes/create-routes.ts";
import { noContent, ok } from "../routes/http-response.ts";

const Thing = z.object({ id: z.string(), name: z.string(), note: z.string().nullable(), seen: z.unknown() });
const members = { name: z.string().min(1), note: z.string().nullable().optional(), size: z.int().optional() };

function things() {
  const routes = createRoutes();
  const shared = { auth: { scopes: [] }, responses: { 200: Thing } } as const;
  const answer = (body: unknown) => ok({ id: "1", name: "n", note: null, seen: body });
  routes.get("/things", {
    ...shared,
    summary: "List",
    query: z.object({ limit: integerParameter({ min: 1, max: 100 }).optional(), tag: z.string().optional() }),
    handle: ({ query }) => answer(query),
  });
  routes.post("/things", {
    ...shared,
    summary: "Create",
    body: z.strictObject(members),
    handle: ({ body }) => answer(body),
  });
  routes.put("/things/:id", {
    ...shared,
    summary: "Replace",
    body: z.strictObject(members),
    handle: ({ body }) => answer(body),
  });
  routes.patch("/things/:id", {
    ...shared,
    summary: "Change",
    body: { json: z.strictObject(members).partial(), mergePatch: true },
    handle: ({ body }) => answer(body),
  });
  routes.get("/things/:id", { ...shared, summary: "Read", handle: ({ params }) => answer(params) });
  routes.post("/things/import", { ...shared, summary: "Import", handle: () => answer("imported") });
  routes.delete("/things/:id", {
    ...shared,
    summary: "Delete",
    responses: { 204: "empty" },
    handle: () => noContent(),
  });
  routes.post("/hooks", {
    auth: "anonymous",
    summary: "Raw",
    body: { raw: { maxBytes: 10 } },
    responses: { 200: Thing },
    handle: ({ body }) => answer(body.toString("hex")),
  });
  return routes;
}

const serve = (t: TestContext) => serveRoutes(t, things());

test("a malformed request is 400, an invalid one is 422", async (t) => {
  const { json } = await serve(t);
  const cases: readonly [string, string, number, string, string][] = [
    ["POST", "{", 400, "invalid_request", ""],
    ["POST", "", 400, "invalid_request", ""],
    ["POST", "  ", 400, "invalid_request", ""],
    ["POST", '{"name":"a"}{', 400, "invalid_request", ""],
    ["POST", '{"name":"a","name":"b"}', 400, "invalid_request", "name:duplicate_member"],
    ["POST", "\ufeff{}", 400, "invalid_request", ""],
    ["POST", '{"name":"a","size":9007199254740993}', 400, "invalid_request", "size:number_out_of_range"],
    ["POST", '{"name":"a","size":1e999}', 400, "invalid_request", "size:number_out_of_range"],
    ["POST", `{"name":${"[".repeat(100)}${"]".repeat(100)}}`, 400, "invalid_request", ":too_deep"],
    ["POST", "{}", 400, "invalid_request", "name:required"],
    ["POST", '{"size":"x"}', 400, "invalid_request", "name:required size:invalid_type"],
    ["POST", '{"name":null}', 422, "validation_error", "name:invalid_type"],
    ["POST", '{"name":""}', 422, "validation_error", "name:too_small"],
    ["POST", '{"name":"a","size":1.5}', 422, "validation_error", "size:invalid_type"],
    ["POST", '{"name":"a","nmae":"b","id":"2"}', 422, "validation_error", "nmae:unknown_member id:read_only"],
    ["POST", "[]", 422, "validation_error", ":invalid_type"],
    ["POST", '{"name":"a\\u0000"}', 422, "validation_error", "name:invalid_text"],
    ["POST", '{"name":"a","note":"\\ud800"}', 422, "validation_error", "note:invalid_text"],
    [
      "POST",
      '{"name":"","note":"\\u0000","x":1}',
      422,
      "validation_error",
      "note:invalid_text name:too_small x:unknown_member",
    ],
    ["POST", `{"name":${"[".repeat(1900)}${"]".repeat(1900)}}`, 400, "invalid_request", ":too_deep"],
    ["POST", '{"name":"a","__proto__":{"size":1}}', 422, "validation_error", "__proto__:invalid_text"],
    ["PATCH", '{"\\u005f_proto__":1}', 422, "validation_error", "__proto__:invalid_text"],
    ["POST", '{"note":"\\udc00"}', 400, "invalid_request", "name:required note:invalid_text"],
    ["PUT", '{"note":null}', 422, "validation_error", "name:required"],
    ["PATCH", '{"note":1,"id":"x"}', 422, "validation_error", "note:invalid_type id:read_only"],
  ];
  for (const [method, body, status, code, details] of cases) {
    const response = await json(method === "POST" ? "/things" : "/things/1", method, body);
    const error = await errorOf(response);
    assert.deepEqual([response.status, error.code], [status, code], `${method} ${body}`);
    const found = (error.details ?? []).map((detail) => `${detail.field}:${detail.code}`).join(" ");
    assert.equal(found, details, `${method} ${body}`);
    assert.equal(error.field ?? "", details.split(":")[0], `${method} ${body}`);
  }
});

test("an escaped backslash before u0000 is text like any other", async (t) => {
  const { json } = await serve(t);
  const response = await json("/things", "POST", '{"name":"\\\\u0000 \\ud83d\\ude00"}');
  assert.equal(response.status, 200);
});

test("absent, null, empty and zero stay apart on the way in and out", async (t) => {
  const { json } = await serve(t);
  for (const body of ["{}", '{"note":null}', '{"note":""}', '{"note":"0","size":0}']) {
    const { seen } = (await (await json("/things/1", "PATCH", body)).json()) as { seen: unknown };
    assert.equal(JSON.stringify(seen), body);
  }
});

test("a body of bad UTF-8, or of an unsupported charset, coding or media type, is refused before parsing", async (t) => {
  const { request } = await serve(t);
  const post = async (body: Uint8Array<ArrayBuffer> | string | null, headers: Record<string, string>) => {
    const response = await request("/things", { method: "POST", body, headers });
    return `${response.status} ${(await errorOf(response)).code}`;
  };
  const json = "application/json";
  const latin = new Uint8Array([...'{"name":"'].map((letter) => letter.charCodeAt(0)).concat(0xe9, 0x22, 0x7d));
  assert.equal(await post(latin, { "content-type": json }), "400 invalid_request");
  assert.equal(await post('{"name":"a"}', { "content-type": `${json}; charset=latin1` }), "415 unsupported_media_type");
  assert.equal(
    await post('{"name":"a"}', { "content-type": json, "content-encoding": "gzip" }),
    "415 unsupported_media_type",
  );
  assert.equal(await post('{"name":"a"}', { "content-type": "text/plain" }), "415 unsupported_media_type");
  assert.equal(await post('{"name":"a"}', { "content-type": "rubbish" }), "415 unsupported_media_type");
  assert.equal(
    await post('{"name":"a"}', { "content-type": "application/merge-patch+json" }),
    "415 unsupported_media_type",
  );
  assert.equal(await post(new Uint8Array([0x7b, 0x7d]), {}), "415 unsupported_media_type");
  assert.equal(await post(null, {}), "400 invalid_request");
});

test("charset=utf-8 and the merge-patch media type are accepted", async (t) => {
  const { json } = await serve(t);
  for (const type of ["application/json; charset=UTF-8", 'application/json;charset="utf-8"', "APPLICATION/JSON"]) {
    assert.equal((await json("/things", "POST", '{"name":"é"}', { "content-type": type })).status, 200, type);
  }
  const patch = await json("/things/1", "PATCH", "{}", { "content-type": "application/merge-patch+json" });
  assert.equal(patch.status, 200);
});

test("a required query parameter that is absent is named in the message", async (t) => {
  const table = createRoutes();
  table.get("/keys", {
    summary: "x",
    auth: "anonymous",
    query: z.object({ account_id: z.string(), limit: integerParameter({ min: 1, max: 100 }).optional() }),
    responses: { 200: z.object({}) },
    handle: () => ok({}),
  });
  const { request } = await serveRoutes(t, table);
  for (const query of ["", "?limit=0"]) {
    const error = await errorOf(await request(`/keys${query}`));
    assert.equal(error.message, "A required query parameter is absent: account_id.");
    assert.equal(error.details?.[0]?.code, "required");
  }
});

test("an undeclared, repeated, out-of-range or unreadable query parameter is 400", async (t) => {
  const { request } = await serve(t);
  const cases: Readonly<Record<string, string>> = {
    "?limit=0": "limit:out_of_range",
    "?limit=101": "limit:out_of_range",
    "?limit=1e1": "limit:out_of_range",
    "?limit=%2B5": "limit:out_of_range",
    "?limit=0x10": "limit:out_of_range",
    "?limit=": "limit:out_of_range",
    "?limit=1&limit=2": "limit:repeated",
    "?limits=1&tag=a": "limits:unknown_parameter",
    "?tag=%00": "tag:invalid_text",
    "?tag=%ff": "tag:invalid_text",
    "?__proto__=1": "__proto__:unknown_parameter",
    "?access_token=x": "access_token:credential_in_query",
    "?API_KEY=x&limit=0": "API_KEY:credential_in_query",
  };
  for (const [query, expected] of Object.entries(cases)) {
    const response = await request(`/things${query}`);
    const error = await errorOf(response);
    assert.equal(response.status, 400, query);
    assert.equal((error.details ?? []).map(({ field, code }) => `${field}:${code}`).join(" "), expected, query);
  }
  const fine = (await (await request("/things?limit=5&tag=a+b%26&")).json()) as { seen: unknown };
  assert.deepEqual(fine.seen, { limit: 5, tag: "a b&" });
});

test("a route without parameters refuses all of them", async (t) => {
  const { request } = await serve(t);
  assert.equal((await request("/things/1?x=1")).status, 400);
  assert.equal((await request("/things/1?")).status, 200);
});

test("a trailing slash is the only difference that a path may have", async (t) => {
  const { request } = await serve(t);
  for (const path of ["/things", "/things/", "/things/1", "/things/1/"]) {
    assert.equal((await request(path)).status, 200, path);
  }
  for (const path of ["/", "/thing", "/things/1/2", "/Things", "//things"]) {
    const response = await request(path);
    assert.equal(response.status, 404, path);
    assert.equal((await errorOf(response)).code, "not_found");
  }
});

test("a path parameter is decoded once; invalid text is 404, invalid encoding is 400", async (t) => {
  const { request } = await serve(t);
  const { seen } = (await (await request("/things/a%2Fb%25")).json()) as { seen: unknown };
  assert.deepEqual(seen, { id: "a/b%" });
  assert.equal((await request("/things/%00")).status, 404);
  assert.equal((await request("/things/%ff")).status, 400);
  assert.equal((await request("/things/%zz")).status, 400);
});

test("a literal path wins over a parameter, whatever the method or order", async (t) => {
  const { json, request } = await serve(t);
  assert.equal((await json("/things/import", "POST", "", { "content-length": "0" })).status, 200);
  const asId = await request("/things/import");
  assert.deepEqual([asId.status, asId.headers.get("allow")], [405, "POST, OPTIONS"]);
});

test("another method is 405 and lists the allowed ones", async (t) => {
  const { request } = await serve(t);
  const cases: readonly [string, string, string][] = [
    ["DELETE", "/things", "GET, HEAD, POST, OPTIONS"],
    ["POST", "/things/1", "PUT, PATCH, GET, HEAD, DELETE, OPTIONS"],
    ["GET", "/hooks", "POST, OPTIONS"],
  ];
  for (const [method, path, allow] of cases) {
    const response = await request(path, { method });
    assert.deepEqual([response.status, response.headers.get("allow")], [405, allow], `${method} ${path}`);
    assert.equal((await errorOf(response)).code, "method_not_allowed");
  }
});

test("a member named __proto__ is refused at any depth, even where all members are allowed", async (t) => {
  const routes = createRoutes();
  const responses = { 200: z.unknown() };
  const handle = ({ body }: { body: unknown }) => ok(body);
  routes.post("/loose", { summary: "x", auth: "anonymous", responses, body: z.looseObject({}), handle });
  routes.post("/record", {
    summary: "x",
    auth: "anonymous",
    responses,
    body: z.record(z.string(), z.unknown()),
    handle,
  });
  const { json } = await serveRoutes(t, routes);
  for (const path of ["/loose", "/record"]) {
    const response = await json(path, "POST", '{"a":[{"__proto__":1}]}');
    assert.deepEqual([response.status, (await errorOf(response)).field], [422, "a[0].__proto__"], path);
    assert.equal((await json(path, "POST", '{"a":"__proto__","_proto_":1}')).status, 200, path);
  }
});

test("an unexpected body is refused, an empty one is not", async (t) => {
  const { request } = await serve(t);
  assert.equal((await request("/things/1", { method: "DELETE", body: "{}" })).status, 400);
  assert.equal((await request("/things/1", { method: "DELETE" })).status, 204);
});

test("only a POST whose members are all optional may omit its body", async (t) => {
  const routes = createRoutes();
  const responses = { 200: z.unknown() };
  const body = z.strictObject({ hours: z.int().default(24), reason: z.string().optional() });
  const spec = { summary: "x", auth: "anonymous", responses, body } as const;
  routes.post("/rotate", { ...spec, handle: (input) => ok(input.body) });
  routes.put("/rotate", { ...spec, handle: (input) => ok(input.body) });
  const { request, json } = await serveRoutes(t, routes);
  for (const headers of [{}, { "content-type": "application/json" }]) {
    const response = await request("/rotate", { method: "POST", headers });
    assert.deepEqual([response.status, await response.json()], [200, { hours: 24 }]);
  }
  assert.equal((await json("/rotate", "POST", "  ")).status, 400, "a body that is sent must be JSON");
  assert.equal((await request("/rotate", { method: "PUT" })).status, 400);
});

test("a raw body of any type arrives byte for byte, within its limit", async (t) => {
  const { request } = await serve(t);
  const bytes = new Uint8Array([0xff, 0, 0x7b]);
  const response = await request("/hooks", { method: "POST", body: bytes, headers: { "content-type": "a/b" } });
  assert.equal(((await response.json()) as { seen: string }).seen, "ff007b");
  assert.equal((await request("/hooks", { method: "POST", body: new Uint8Array(11) })).status, 413);
});

test("a table that contradicts itself does not start", async (t) => {
  const shared = { summary: "x", auth: "anonymous", responses: { 200: Thing }, handle: () => noContent() } as const;
  const twice = createRoutes();
  twice.get("/a/:id", shared);
  twice.get("/a/:other/", shared);
  await assert.rejects(serveRoutes(t, twice), /get \/a\/:other\/ is declared twice/);
  const loose = createRoutes();
  loose.post("/a", { ...shared, body: z.strictObject({ inner: z.array(z.object({ b: z.string() })) }) });
  await assert.rejects(serveRoutes(t, loose), /post \/a: the body's inner must be z\.strictObject/);
  const keyed = createRoutes();
  keyed.post("/a", { ...shared, idempotent: true });
  await assert.rejects(serveRoutes(t, keyed), /it needs an idempotency store/);
  const limited = createRoutes();
  limited.get("/a", { ...shared, rateLimit: "unheard-of" });
  await assert.rejects(serveRoutes(t, limited), /unknown rate limit unheard-of/);
});
