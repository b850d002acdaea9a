import assert from "node:assert/strict";
import { Readable } from "node:stream";
import test from "node:test";
import { AppError } from "@signalbox/core";
import { z } from "zod";
import { errorOf, serveRoutes } from "../../test/edge-fixture.ts";
import { ifMatch } from "../responses/etag.ts";
import { createRoutes } from "../routes/create-routes.ts";
import { bytes, created, keptOpen, noContent, ok, refused, stream } from "../routes/http-response.ts";

const Thing = z.object({ id: z.string(), inner: z.object({ a: z.int() }).optional() });
const shared = { summary: "x", auth: "anonymous", responses: { 200: Thing } } as const;

test("undeclared members are left out in production, refused in strict mode", async (t) => {
  const routes = createRoutes();
  routes.get("/leak", { ...shared, handle: () => ok({ id: "1", password: "x", inner: { a: 1, key: "y" } }) });
  routes.get("/fit", { ...shared, handle: () => ok({ id: 1 }) });
  routes.get("/status", { ...shared, handle: () => ({ ...ok({ id: "1", secret: "x" }), status: 203 }) });
  const lenient = await serveRoutes(t, routes, { strict: false });
  assert.deepEqual(await (await lenient.request("/leak")).json(), { id: "1", inner: { a: 1 } });
  const strict = await serveRoutes(t, routes, { settings: ["--http.strict-responses=true"], strict: true });
  const response = await strict.request("/leak");
  assert.equal(response.status, 500);
  assert.doesNotMatch(await response.text(), /password|inner\.key/);
  assert.match(JSON.stringify(strict.lines), /GET \/leak answered 200 with undeclared password, inner\.key/);
  for (const path of ["/fit", "/status"]) {
    const answer = await lenient.request(path);
    assert.equal(answer.status, 500, path);
    assert.doesNotMatch(await answer.text(), /secret|string|declare/);
  }
});

test("a lasting value is serialized once per route, with the declared members of that route", async (t) => {
  let looked = 0;
  const Seen = z.object({ id: z.string() }).refine(() => ++looked > 0);
  const routes = createRoutes();
  const [value, next] = [{ id: "1", inner: { a: 1 } }, { id: "2" }];
  let current: object = value;
  const handle = () => ok(current, { lasting: true });
  routes.get("/short", { ...shared, responses: { 200: Seen }, handle });
  routes.get("/long", { ...shared, handle });
  const { request } = await serveRoutes(t, routes, { strict: false });
  for (let time = 0; time < 3; time++) assert.deepEqual(await (await request("/short")).json(), { id: "1" });
  assert.deepEqual(await (await request("/long")).json(), value);
  assert.equal(looked, 1);
  current = next;
  assert.deepEqual(await (await request("/short")).json(), next);
  assert.equal(looked, 2);
});

test("strict mode finds an undeclared refusal", async (t) => {
  const routes = createRoutes();
  routes.get("/a", { ...shared, handle: () => refused(410, "not_found") });
  routes.get("/b", { ...shared, responses: { 200: Thing, 410: "error" }, handle: () => refused(410, "not_found") });
  const { request } = await serveRoutes(t, routes);
  assert.equal((await request("/a")).status, 500);
  assert.equal((await request("/b")).status, 410);
});

test("a 304 has the headers of the full answer without its body", async (t) => {
  const routes = createRoutes();
  routes.get("/a", { ...shared, cache: "private, max-age=60", handle: () => ok({ id: "1" }, { etag: '"e"' }) });
  routes.get("/b", { ...shared, handle: () => ok({ id: "1" }, { etag: '"e"' }) });
  const { request } = await serveRoutes(t, routes);
  const full = await request("/a");
  const again = await request("/a", { headers: { "if-none-match": 'W/"x", W/"e"' } });
  assert.equal(again.status, 304);
  assert.equal(await again.text(), "");
  for (const name of ["etag", "cache-control", "vary"]) assert.equal(again.headers.get(name), full.headers.get(name));
  assert.equal(full.headers.get("cache-control"), "private, max-age=60");
  assert.equal(full.headers.get("vary"), "Accept, Authorization, X-API-Key");
  assert.equal(again.headers.get("content-type"), null);
  assert.equal((await request("/b")).headers.get("cache-control"), "private, no-cache");
});

test("If-Match of another state is 409 conflict without a change", async (t) => {
  const routes = createRoutes();
  let changes = 0;
  routes.patch("/a", {
    ...shared,
    body: z.strictObject({}),
    handle: (input) => {
      ifMatch(input, '"now"');
      changes++;
      return ok({ id: "1" }, { etag: '"next"' });
    },
  });
  const { json } = await serveRoutes(t, routes);
  const stale = await json("/a", "PATCH", {}, { "if-match": '"before"' });
  assert.deepEqual([stale.status, (await errorOf(stale)).code, changes], [409, "conflict", 0]);
  assert.equal((await json("/a", "PATCH", {}, { "if-match": '"x", "now"' })).status, 200);
  assert.equal(changes, 1);
});

test("a client that prefers no representation gets 204 with the validator", async (t) => {
  const routes = createRoutes();
  routes.patch("/a", { ...shared, body: z.strictObject({}), handle: () => ok({ id: "1" }, { etag: '"e"' }) });
  const { json } = await serveRoutes(t, routes);
  const response = await json("/a", "PATCH", {}, { prefer: "respond-async, return=minimal" });
  assert.deepEqual([response.status, await response.text()], [204, ""]);
  assert.equal(response.headers.get("preference-applied"), "return=minimal");
  assert.equal(response.headers.get("etag"), '"e"');
  assert.equal((await json("/a", "PATCH", {}, { prefer: "return=minimalistic" })).status, 200);
});

test("a body written by a listener has the headers of its route and of its answer", async (t) => {
  const routes = createRoutes();
  const cors = ["--http.cors.origins=https://app.example"];
  routes.get("/open", {
    ...shared,
    responses: { 200: { content: ["text/event-stream"], example: ":" } },
    cache: "no-store",
    handle: () =>
      keptOpen((_request, response) => void response.end(": connected\n\n"), {
        contentType: "text/event-stream",
        headers: { "x-accel-buffering": "no" },
      }),
  });
  const { request, lines } = await serveRoutes(t, routes, { settings: cors });
  const answer = await request("/open", { headers: { accept: "text/event-stream", origin: "https://app.example" } });
  assert.deepEqual([answer.status, await answer.text()], [200, ": connected\n\n"]);
  for (const [name, value] of [
    ...[["content-type", "text/event-stream"] as const, ["x-accel-buffering", "no"] as const],
    ...[["cache-control", "no-store"] as const, ["x-content-type-options", "nosniff"] as const],
    ["access-control-allow-origin", "https://app.example"] as const,
  ])
    assert.equal(answer.headers.get(name), value);
  assert.equal(lines.find(({ path }) => path === "/open")?.status, 200);
});

test("HEAD has the headers of GET and no body", async (t) => {
  const routes = createRoutes();
  routes.get("/a", { ...shared, handle: () => ok({ id: "1" }, { etag: '"e"' }) });
  const { request } = await serveRoutes(t, routes);
  const [get, head] = [await request("/a"), await request("/a", { method: "HEAD" })];
  assert.equal(await head.text(), "");
  for (const name of ["etag", "content-type", "content-length"])
    assert.equal(head.headers.get(name), get.headers.get(name));
});

test("an unacceptable media type is 406 in JSON before the handler runs", async (t) => {
  const routes = createRoutes();
  let calls = 0;
  const handle = ({ mediaType }: { mediaType: string }) => {
    calls++;
    return stream(Readable.from(["x"]), { contentType: mediaType });
  };
  routes.get("/image", { ...shared, responses: { 200: { content: ["image/jpeg", "image/webp"] } }, handle });
  routes.get("/json", { ...shared, handle: () => ok({ id: "1" }) });
  const { request } = await serveRoutes(t, routes);
  const refusal = await request("/image", { headers: { accept: "text/html, image/webp;q=0" } });
  assert.deepEqual([refusal.status, (await errorOf(refusal)).code, calls], [406, "not_acceptable", 0]);
  const type = async (accept: string) => (await request("/image", { headers: { accept } })).headers.get("content-type");
  assert.equal(await type("image/webp, image/jpeg;q=0.5"), "image/webp");
  assert.equal(await type("*/*"), "image/jpeg");
  assert.equal((await request("/json", { headers: { accept: "application/json;q=0, */*" } })).status, 406);
  assert.equal((await request("/json", { headers: { accept: "application/*;q=0.1" } })).status, 200);
});

test("only the weight among the parameters of an accepted type counts", async (t) => {
  const routes = createRoutes();
  const handle = ({ mediaType }: { mediaType: string }) => bytes(Buffer.from("x"), mediaType);
  routes.get("/image", { ...shared, responses: { 200: { content: ["image/jpeg", "image/webp"] } }, handle });
  routes.get("/json", { ...shared, handle: () => ok({ id: "1" }) });
  const { request } = await serveRoutes(t, routes);
  for (const accept of [
    "application/json; charset=utf-8",
    'text/html, APPLICATION/JSON ;profile="a,b;q=0";q=0.5',
    "application/json;v",
    "application/json;q=0.5;ext=1",
  ]) {
    assert.equal((await request("/json", { headers: { accept } })).status, 200, accept);
  }
  for (const accept of ["application/json;charset=utf-8;q=0", "text/html;x=application/json", 'a/b;x="y, */*"']) {
    assert.equal((await request("/json", { headers: { accept } })).status, 406, accept);
  }
  const accept = "image/jpeg;x=1;q=0.1, image/webp;y=2;q=0.2";
  assert.equal((await request("/image", { headers: { accept } })).headers.get("content-type"), "image/webp");
});

test("every answer has the security headers and a request id, but no banner", async (t) => {
  const routes = createRoutes();
  routes.get("/a", { ...shared, handle: () => ok({ id: "1" }) });
  const { request } = await serveRoutes(t, routes);
  for (const path of ["/a", "/nothing", "/a?x=1"]) {
    const { headers } = await request(path);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'/);
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    assert.equal(headers.get("cross-origin-opener-policy"), "same-origin");
    assert.match(headers.get("permissions-policy") ?? "", /camera=\(\)/);
    assert.equal(headers.get("x-powered-by"), null);
    assert.match(headers.get("x-request-id") ?? "", /^[\w-]{36}$/);
  }
});

test("browsers are pinned to https only where the base URL is https", async (t) => {
  const routes = createRoutes();
  routes.get("/a", { ...shared, handle: () => ok({ id: "1" }) });
  const named = "strict-transport-security";
  const secure = await serveRoutes(t, routes, { settings: ["--http.base-url=https://signalbox.example"] });
  for (const path of ["/a", "/nothing"]) assert.match((await secure.request(path)).headers.get(named) ?? "", /max-age/);
  const plain = await serveRoutes(t, routes, { settings: ["--http.base-url=http://127.0.0.1:8080"] });
  assert.equal((await plain.request("/a")).headers.get(named), null);
});

test("a header of an answer replaces the common one", async (t) => {
  const routes = createRoutes();
  const headers = { "Content-Security-Policy": "default-src 'none'; form-action 'self'" };
  const page = { content: ["text/html"] } as const;
  const handle = () => bytes(Buffer.from("<p>"), "text/html", { status: 404, headers });
  routes.get("/page", { ...shared, responses: { 200: page, 404: page }, handle });
  const { request } = await serveRoutes(t, routes);
  const answer = await request("/page");
  assert.equal(answer.headers.get("content-security-policy"), headers["Content-Security-Policy"]);
  assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
});

test("a harmless request id is kept, any other is replaced", async (t) => {
  const routes = createRoutes();
  routes.get("/a", { ...shared, handle: () => refused(404, "not_found") });
  const { request } = await serveRoutes(t, routes, { strict: true });
  const given = await request("/a", { headers: { "x-request-id": "abc.DEF-123" } });
  assert.equal((await errorOf(given)).request_id, "abc.DEF-123");
  for (const id of ["a".repeat(129), "a b", "<x>"]) {
    assert.notEqual((await request("/a", { headers: { "x-request-id": id } })).headers.get("x-request-id"), id);
  }
});

test("a creation is 201 with the record and its path", async (t) => {
  const routes = createRoutes();
  routes.post("/a", {
    ...shared,
    responses: { 201: Thing },
    handle: () => created("/a/1", { id: "1" }, { etag: '"e"' }),
  });
  routes.delete("/a", { ...shared, responses: { 204: "empty" }, handle: () => noContent() });
  const { request } = await serveRoutes(t, routes);
  const response = await request("/a", { method: "POST" });
  assert.deepEqual(
    [response.status, response.headers.get("location"), await response.json()],
    [201, "/a/1", { id: "1" }],
  );
  assert.equal(response.headers.get("cache-control"), "no-store");
  assert.equal((await request("/a", { method: "DELETE" })).status, 204);
});

test("an internal failure is logged in full but hidden from the client", async (t) => {
  const routes = createRoutes({ errors: "configuration" });
  routes.get("/bug", {
    ...shared,
    handle: () => {
      throw new Error("select * from accounts failed at 10.0.0.7");
    },
  });
  routes.get("/outage", {
    ...shared,
    handle: () => {
      throw new AppError("unavailable", "Not now.", { retryAfterSeconds: 3, cause: new Error("10.0.0.7") });
    },
  });
  const { request, lines } = await serveRoutes(t, routes);
  const bug = await request("/bug");
  const text = await bug.text();
  assert.equal(bug.status, 500);
  assert.doesNotMatch(text, /select|10\.0\.0\.7|at /);
  const outage = await request("/outage");
  assert.equal(outage.headers.get("retry-after"), "3");
  const error = await errorOf(outage);
  assert.deepEqual([error.code, error.correlationId], ["configuration_unavailable", error.request_id]);
  assert.match(JSON.stringify(lines), /select \* from accounts failed/);
  assert.match(JSON.stringify(lines), /10\.0\.0\.7/);
});

test("areas use their own codes for some errors, even for a wrong method", async (t) => {
  const routes = createRoutes({ errors: "account" });
  routes.get("/a", {
    ...shared,
    handle: () => {
      throw new AppError("unavailable", "Not now.");
    },
  });
  routes.get("/c", { ...shared, errors: "configuration", handle: () => ok({ id: "1" }) });
  routes.post("/i", { ...shared, errors: "image", body: { raw: { maxBytes: 1 } }, handle: () => ok({ id: "1" }) });
  const { request } = await serveRoutes(t, routes);
  const account = await request("/a");
  assert.deepEqual([account.status, (await errorOf(account)).code], [503, "server_error"]);
  const configuration = await errorOf(await request("/c", { method: "POST" }));
  assert.equal(configuration.correlationId, configuration.request_id);
  assert.equal((await errorOf(await request("/i", { method: "POST", body: "123" }))).code, "image_too_large");
});

test("a broken stream ends the connection instead of looking complete", async (t) => {
  const routes = createRoutes();
  async function* halfway() {
    yield "half";
    throw new Error("the store went away");
  }
  const responses = { 200: { content: ["text/plain"] } };
  routes.get("/a", {
    ...shared,
    responses,
    handle: () => stream(Readable.from(halfway()), { contentType: "text/plain" }),
  });
  const { request } = await serveRoutes(t, routes);
  await assert.rejects(async () => (await request("/a")).text());
});

test("a deprecated route announces its deprecation and its sunset", async (t) => {
  const routes = createRoutes();
  const deprecated = { since: new Date("2026-01-01T00:00:00Z"), sunset: new Date("2027-01-01T00:00:00Z") };
  routes.get("/a", { ...shared, deprecated, handle: () => ok({ id: "1" }) });
  const { headers } = await (await serveRoutes(t, routes)).request("/a");
  assert.equal(headers.get("deprecation"), "@1767225600");
  assert.equal(headers.get("sunset"), "Fri, 01 Jan 2027 00:00:00 GMT");
});
