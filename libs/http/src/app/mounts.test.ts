import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { type TestContext, test } from "node:test";
import { errorOf, serveRoutes, testLimiter, testLimits } from "../edge-fixture.ts";
import { createRoutes } from "../routes/create-routes.ts";

/** A listener of its own under `/oauth`, and the limits it stands behind. */
function serveMounted(t: TestContext, listener: RequestListener, limits = testLimits()) {
  return serveRoutes(t, createRoutes(), { mounts: { "/oauth": listener }, rateLimits: limits });
}

test("a mounted listener answers everything under its prefix, and sees the whole path", async (t) => {
  const { request } = await serveMounted(t, ({ url }, response) => void response.end(url));
  for (const path of ["/oauth", "/oauth/token", "/oauth?x=1"]) {
    assert.equal(await (await request(path)).text(), path);
  }
  assert.equal((await request("/oauthx")).status, 404);
});

test("its answers have the headers of every answer, and it may set its own instead", async (t) => {
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
  const [line] = lines.filter((entry) => entry.requestId === "asked-as-this");
  assert.deepEqual([line?.route, line?.path, line?.status], ["/oauth", "/oauth/x", 201]);
});

test("its callers are counted by address like anonymous ones", async (t) => {
  const limits = testLimits({ anonymous: testLimiter("anonymous", 2) });
  const { request } = await serveMounted(t, (_request, response) => void response.end(), limits);
  assert.equal((await request("/oauth/token")).status, 200);
  assert.equal((await request("/oauth/token")).headers.get("ratelimit"), '"anonymous";r=0;t=7');
  const refused = await request("/oauth/token");
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get("retry-after"), "7");
  assert.equal((await errorOf(refused)).code, "rate_limited");
});

test("whoever presents wrong credentials to it too often waits, without being judged", async (t) => {
  const limits = testLimits({ failedSignIn: testLimiter("failed-sign-in", 3) });
  let judged = 0;
  const { request } = await serveMounted(
    t,
    (_request, response) => {
      judged++;
      response.statusCode = 401;
      response.end();
    },
    limits,
  );
  for (let count = 0; count < 3; count++) assert.equal((await request("/oauth/token")).status, 401);
  assert.equal((await request("/oauth/token")).status, 429);
  assert.equal(judged, 3);
});
