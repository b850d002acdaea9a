import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { type TestContext, test } from "node:test";
import { createManualClock, seconds } from "@signalbox/core";
import express from "express";
import { z } from "zod";
import { serveRoutes, testLimiter, testLimits } from "../../test/edge-fixture.ts";
import { createRoutes } from "../routes/create-routes.ts";
import { ok, refused } from "../routes/http-response.ts";

/** Serves a listener under `/oauth` behind the given limits. */
function serveMounted(t: TestContext, listener: RequestListener, limits = testLimits()) {
  return serveRoutes(t, createRoutes(), { mounts: { "/oauth": listener }, rateLimits: limits });
}

test("a mounted listener sees the whole path of every request under its prefix", async (t) => {
  const { request } = await serveMounted(t, ({ url }, response) => void response.end(url));
  for (const path of ["/oauth", "/oauth/token", "/oauth?x=1"]) {
    assert.equal(await (await request(path)).text(), path);
  }
  assert.equal((await request("/oauthx")).status, 404);
});

test("an Express application of a team's own is mounted as it is, with its middleware and the whole path", async (t) => {
  const app = express();
  app.use(express.json());
  app.post(
    "/oauth/echo",
    (request, response) => void response.status(202).json({ ...request.body, path: request.path }),
  );
  const { request } = await serveMounted(t, app);
  const headers = { "content-type": "application/json" };
  const answer = await request("/oauth/echo", { method: "POST", headers, body: '{"a":1}' });
  assert.deepEqual([answer.status, await answer.json()], [202, { a: 1, path: "/oauth/echo" }]);
  assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
  assert.equal((await request("/oauth/nothing")).status, 404);
});

test("answers of a mounted listener have the common headers, which it may replace", async (t) => {
  const { request, lines } = await serveMounted(t, (_request, response) => {
    response.setHeader("content-security-policy", "default-src 'self'");
    response.statusCode = 201;
    response.end();
  });
  const { status, headers } = await request("/oauth/x", { headers: { "x-request-id": "asked-as-this" } });
  assert.equal(status, 201);
  assert.equal(headers.get("x-request-id"), "asked-as-this");
  assert.equal(headers.get("x-content-type-options"), "nosniff");
  assert.equal(headers.get("cache-control"), "no-store");
  assert.equal(headers.get("cross-origin-opener-policy"), "unsafe-none", "an application keeps its window");
  assert.equal(headers.get("content-security-policy"), "default-src 'self'");
  const [line] = lines.filter((entry) => entry.request_id === "asked-as-this");
  assert.deepEqual([line?.route, line?.path, line?.status], ["/oauth", "/oauth/x", 201]);
});

test("only a mounted listener counts its callers: others of the same address do not affect them", async (t) => {
  const limits = testLimits({ anonymous: testLimiter("anonymous", 1), failedSignIn: testLimiter("failed-sign-in", 1) });
  const listener: RequestListener = (_request, response) => {
    response.statusCode = 401;
    response.end();
  };
  const { request } = await serveMounted(t, listener, limits);
  const guess = async () => (await request("/nowhere", { headers: { authorization: "Bearer bad" } })).status;
  assert.deepEqual([await guess(), await guess()], [404, 429]);
  for (let count = 0; count < 3; count++) {
    const answer = await request("/oauth/token");
    assert.deepEqual([answer.status, answer.headers.get("ratelimit")], [401, null]);
  }
});

function routes() {
  const table = createRoutes();
  const shared = { summary: "x", auth: { scopes: [] }, responses: { 200: z.object({}), 409: "error" } } as const;
  table.get("/images/:id", {
    ...shared,
    query: z.object({ signature: z.string().optional() }),
    handle: ({ log }) => {
      log.info({ step: "inside" }, "decided");
      return ok({});
    },
  });
  const refusals = { ...shared, responses: { 503: "error" } } as const;
  table.post("/images/:id", {
    ...refusals,
    handle: ({ params }) => refused(503, "unavailable", params.id === "paused" ? { isExpected: true } : {}),
  });
  table.delete("/images/:id", { ...shared, handle: () => refused(409, "conflict") });
  return table;
}

test("one log line per request has caller, operation, outcome and duration, but not the query", async (t) => {
  const { request, lines } = await serveRoutes(t, routes());
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  await request("/images/img_1?signature=secret", { headers: { traceparent, "x-request-id": "r1" } });
  await request("/images/img_1", { method: "DELETE" });
  const [inside, read, removed] = lines;
  assert.deepEqual([inside?.request_id, inside?.route, inside?.step], ["r1", "GET /images/:id", "inside"]);
  const { duration_ms: durationMs, trace_id: traceId, ...rest } = read ?? {};
  assert.equal(typeof durationMs, "number");
  assert.equal(traceId, "0af7651916cd43dd8448eb211c80319c");
  const fields = { method: "GET", route: "/images/:id", path: "/images/img_1", status: 200, request_id: "r1" };
  assert.deepEqual({ ...rest, ...fields, account_id: "acc_1", credential_id: "key_1" }, rest);
  assert.doesNotMatch(JSON.stringify(lines), /secret|good/);
  assert.deepEqual([removed?.status, removed?.level, removed?.client_address], [409, "info", "127.0.0.1"]);
  assert.equal(lines.length, 3);
});

test("an expected 5xx is no error: the first of each second has an info line, with the number left out", async (t) => {
  const clock = createManualClock();
  const { request, lines } = await serveRoutes(t, routes(), { clock });
  const post = (id: string) => request(`/images/${id}`, { method: "POST" });
  for (let nth = 0; nth < 3; nth++) await post("paused");
  clock.advance(seconds(1));
  await post("paused");
  await post("lost");
  assert.deepEqual(
    lines.map(({ level, status, unlogged }) => [level, status, unlogged]),
    [
      ["info", 503, 0],
      ["info", 503, 2],
      ["error", 503, undefined],
    ],
  );
});

test("requests are measured by method, route and status, never by text of a caller", async (t) => {
  const { request, context } = await serveRoutes(t, routes());
  await request("/images/1");
  await request("/images/2");
  await request("/made/up/path");
  await request("/images/2", { method: "PURGE" });
  const text = await context.metrics.text();
  const count = (labels: string) =>
    new RegExp(`duration_seconds_count\\{[^}]*${labels}[^}]*\\} (\\d+)`).exec(text)?.[1];
  assert.equal(count('method="GET",route="/images/:id",status="200"'), "2");
  assert.equal(count('method="GET",route="\\(unmatched\\)",status="404"'), "1");
  assert.equal(count('method="other",route="/images/:id",status="405"'), "1");
});
