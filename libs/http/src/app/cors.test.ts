import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { z } from "zod";
import { serveRoutes, testLimiter, testLimits } from "../../test/edge-fixture.ts";
import { createRoutes } from "../routes/create-routes.ts";
import { noContent, ok } from "../routes/http-response.ts";

const app = "https://app.example.com";

async function serve(t: TestContext, origins: readonly string[], limits = testLimits()) {
  const routes = createRoutes();
  const responses = { 200: z.object({}) };
  const handle = () => ok({}, { etag: '"e"' });
  routes.get("/mine", { summary: "x", auth: { scopes: [] }, responses, handle });
  routes.delete("/mine", {
    summary: "x",
    auth: { scopes: [] },
    responses: { 204: "empty" },
    handle: () => noContent(),
  });
  routes.get("/open", { summary: "x", auth: "anonymous", responses, handle });
  routes.post("/asked", { summary: "x", auth: "anonymous", responses: { 204: "empty" }, handle: () => noContent() });
  routes.options("/asked", {
    summary: "x",
    auth: "anonymous",
    responses: { 204: "empty" },
    handle: () => noContent({ headers: { "webhook-allowed-rate": "*" } }),
  });
  const settings = [`--http.cors.origins=${origins.join(",")}`];
  const { url } = await serveRoutes(t, routes, { rateLimits: limits, ...(origins.length > 0 ? { settings } : {}) });
  const send = (method: string, path: string, headers: Record<string, string> = {}) =>
    fetch(url + path, { method, headers });
  const preflight = (path: string, origin: string, method: string) =>
    send("OPTIONS", path, { origin, "access-control-request-method": method });
  return { send, preflight };
}

const cors = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith("access-control-")));

test("OPTIONS lists the methods of a path without credentials", async (t) => {
  const { send } = await serve(t, []);
  const answer = await send("OPTIONS", "/mine/", { origin: app, "access-control-request-method": "GET" });
  assert.deepEqual([answer.status, answer.headers.get("allow")], [204, "GET, HEAD, DELETE, OPTIONS"]);
  assert.deepEqual(cors(answer), {}, "and pages of other origins are refused");
  assert.equal((await send("OPTIONS", "/nothing")).status, 404);
});

test("a path with its own OPTIONS still answers preflight requests", async (t) => {
  const { send, preflight } = await serve(t, [app]);
  assert.equal((await send("OPTIONS", "/asked")).headers.get("webhook-allowed-rate"), "*");
  const asked = await preflight("/asked", app, "POST");
  assert.deepEqual([asked.status, asked.headers.get("webhook-allowed-rate")], [204, null]);
  assert.equal(asked.headers.get("access-control-allow-origin"), app);
  assert.equal(asked.headers.get("access-control-allow-methods"), "POST, OPTIONS");
});

test("a page of a listed origin may call routes, preflights included", async (t) => {
  const { send, preflight } = await serve(t, ["https://other.example.com", app]);
  const asked = await preflight("/mine", app, "DELETE");
  assert.equal(asked.status, 204);
  assert.equal(asked.headers.get("access-control-allow-origin"), app);
  assert.match(asked.headers.get("access-control-allow-methods") ?? "", /\bDELETE\b/);
  for (const name of ["authorization", "x-api-key", "content-type", "if-match", "idempotency-key"]) {
    assert.match(asked.headers.get("access-control-allow-headers") ?? "", new RegExp(`\\b${name}\\b`, "i"));
  }
  for (const answer of [
    await send("GET", "/mine", { origin: app, authorization: "Bearer good" }),
    await send("GET", "/mine", { origin: app, authorization: "Bearer bad" }),
    await send("GET", "/open", { origin: app, "if-none-match": '"e"' }),
    await send("GET", "/nothing", { origin: app }),
  ]) {
    assert.equal(answer.headers.get("access-control-allow-origin"), app, String(answer.status));
    const exposed = answer.headers.get("access-control-expose-headers");
    assert.deepEqual(
      exposed?.split(", "),
      ["ETag", "Location", "RateLimit", "RateLimit-Policy", "Retry-After"].concat([
        "Upload-Complete",
        "Upload-Length",
        "Upload-Offset",
        "X-Request-Id",
      ]),
    );
    assert.match(answer.headers.get("vary") ?? "", /\bOrigin\b/);
  }
});

test("an origin that merely resembles a listed one is refused", async (t) => {
  const { send, preflight } = await serve(t, [app]);
  for (const origin of [
    "null",
    "*",
    `${app}.evil.example`,
    "http://app.example.com",
    `${app}:8443`,
    app.toUpperCase(),
  ]) {
    assert.deepEqual(cors(await preflight("/mine", origin, "GET")), {}, origin);
    assert.deepEqual(cors(await send("GET", "/open", { origin })), {}, origin);
  }
  const absent = await preflight("/mine", app, "PATCH");
  assert.equal(absent.headers.get("access-control-allow-methods"), null, "and a missing method is not allowed");
});

test("* opens only routes without credentials", async (t) => {
  const { send, preflight } = await serve(t, ["*"]);
  const origin = "https://anyone.example";
  assert.equal((await preflight("/open", origin, "GET")).headers.get("access-control-allow-origin"), "*");
  assert.equal((await send("GET", "/open")).headers.get("access-control-allow-origin"), "*");
  assert.deepEqual(cors(await preflight("/mine", origin, "GET")), {});
  assert.deepEqual(cors(await send("GET", "/mine", { origin, authorization: "Bearer good" })), {});
});

test("a preflight of an allowed page is never counted", async (t) => {
  const { preflight, send } = await serve(t, [app], testLimits({ anonymous: testLimiter("anonymous", 1) }));
  for (let count = 0; count < 3; count++) assert.equal((await preflight("/mine", app, "GET")).status, 204);
  assert.equal((await send("OPTIONS", "/mine")).status, 204);
  assert.equal((await send("OPTIONS", "/mine")).status, 429);
});
