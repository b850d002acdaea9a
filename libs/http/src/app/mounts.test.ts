import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { type TestContext, test } from "node:test";
import express from "express";
import { serveRoutes, testLimiter, testLimits } from "../edge-fixture.ts";
import { createRoutes } from "../routes/create-routes.ts";

/** Serves a listener under `/oauth` behind the given limits. */
function serveMounted(t: TestContext, listener: RequestListener, limits = testLimits()) {
  return serveRoutes(t, createRoutes(), { mounts: { "/oauth": listener }, rateLimits: limits });
}

test("a mounted listener answers every path under its prefix and sees the whole path", async (t) => {
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
