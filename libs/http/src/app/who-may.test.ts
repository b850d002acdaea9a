import assert from "node:assert/strict";
import test from "node:test";
import { AppError, systemClock } from "@signalbox/core";
import { z } from "zod";
import { errorOf, serveRoutes, testLimiter, testLimits, testPrincipal } from "../../test/edge-fixture.ts";
import { createRoutes } from "../routes/create-routes.ts";
import { ok, refused } from "../routes/http-response.ts";

const responses = { 200: z.object({ account: z.string().nullable() }) };
const summary = "x";

function routes() {
  const table = createRoutes();
  const handle = ({ principal }: { principal: { accountId: string } | null }) =>
    ok({ account: principal?.accountId ?? null });
  table.get("/mine", { summary, responses, auth: { scopes: ["images:read"] }, handle });
  table.post("/mine", { summary, responses, auth: { scopes: ["images:read", "images:write"] }, handle });
  table.patch("/own", { summary, responses, auth: { scopes: [], access: "own-account:write" }, handle });
  table.post("/secret", { summary, responses, auth: { scopes: [], stepUp: true }, handle });
  table.get("/maybe", { summary, responses, auth: { scopes: [], optional: true }, handle });
  table.get("/open", { summary, responses, auth: "anonymous", handle });
  table.get("/free", { summary, responses, auth: "anonymous", rateLimit: "none", handle });
  table.get("/switched-off", {
    summary,
    responses: { 403: "error" },
    auth: { scopes: [] },
    handle: () => refused(403, "forbidden"),
  });
  table.get("/special", { summary, responses, auth: { scopes: [] }, rateLimit: "special", handle });
  return table;
}

const limits = () => testLimits({ named: { special: testLimiter("special", 1) } });

test("missing credentials are 401 with a challenge, bad ones 401 with the reason", async (t) => {
  const { url, request } = await serveRoutes(t, routes(), { rateLimits: limits() });
  const none = await fetch(`${url}/mine`);
  assert.equal(none.status, 401);
  assert.match(none.headers.get("www-authenticate") ?? "", /^Bearer realm="signalbox", resource_metadata="[^"]*"$/);
  assert.equal((await errorOf(none)).code, "unauthorized");
  for (const headers of [{ authorization: "Bearer bad" }, { "x-api-key": "bad" }, { authorization: "Digest x" }]) {
    const bad = await request("/mine", { headers: headers as unknown as Record<string, string> });
    assert.equal(bad.status, 401);
    assert.match(bad.headers.get("www-authenticate") ?? "", /invalid_token/);
  }
});

test("a challenge names the metadata of the deployment, which tell the issuers of its tokens", async (t) => {
  for (const [baseUrl, metadata] of [
    ["https://signalbox.example", "https://signalbox.example/.well-known/oauth-protected-resource"],
    ["https://signalbox.example/house", "https://signalbox.example/.well-known/oauth-protected-resource/house"],
  ]) {
    const { url } = await serveRoutes(t, routes(), { rateLimits: limits(), settings: [`--http.base-url=${baseUrl}`] });
    for (const headers of [{}, { authorization: "Bearer bad" }]) {
      const challenge = (await fetch(`${url}/mine`, { headers })).headers.get("www-authenticate");
      assert.ok(challenge?.endsWith(`, resource_metadata="${metadata}"`), challenge ?? "none");
    }
  }
});

test("one credential may come as Bearer, X-API-Key or Basic password, but only once", async (t) => {
  const { request } = await serveRoutes(t, routes(), { rateLimits: limits() });
  const basic = `Basic ${Buffer.from("anyone:good").toString("base64")}`;
  assert.equal((await request("/mine")).status, 200);
  assert.equal((await request("/mine", { headers: { "x-api-key": "good" } })).status, 200);
  assert.equal((await request("/mine", { headers: { authorization: basic } })).status, 200);
  assert.equal((await request("/mine", { headers: { authorization: basic, "x-api-key": "good" } })).status, 400);
});

test("a credential in the query is refused, even beside credentials in headers", async (t) => {
  const anonymous = testLimiter("anonymous", 4);
  const { url, request } = await serveRoutes(t, routes(), { rateLimits: { ...limits(), anonymous } });
  for (const name of ["access_token", "API_KEY", "%74oken"]) {
    const none = await fetch(`${url}/mine?a=b&${name}=x`);
    const { code, details } = await errorOf(none);
    assert.deepEqual(
      [none.status, code, details?.map((detail) => detail.code)],
      [400, "invalid_request", ["credential_in_query"]],
    );
  }
  assert.equal((await request("/mine?token=x", { headers: { authorization: "Bearer bad" } })).status, 400);
  assert.equal((await request("/mine?token=x")).status, 429, "and it is counted by address");
});

test("a declared parameter may have the name of a credential", async (t) => {
  const table = createRoutes();
  const query = z.object({ token: z.string() });
  const handle = () => ok({ account: null });
  table.get("/mine", { summary, responses, auth: { scopes: [] }, query, handle });
  const { request } = await serveRoutes(t, table);
  assert.equal((await request("/mine?token=x")).status, 200);
});

test("a missing scope or a blocked state is 403; the caller comes from the credential", async (t) => {
  const principals = {
    reader: testPrincipal({ accountId: "acc_r", only: ["images:read"] }),
    suspended: testPrincipal({ state: "suspended" }),
    pending: testPrincipal({ state: "pending" }),
    deleted: testPrincipal({ state: "deleted" }),
  };
  const { request } = await serveRoutes(t, routes(), { principals, rateLimits: limits() });
  const as = async (who: string, method: string, path: string) =>
    (await request(path, { method, headers: { authorization: `Bearer ${who}` } })).status;
  assert.equal(await as("reader", "GET", "/mine"), 200);
  assert.equal(await as("reader", "POST", "/mine"), 403);
  assert.equal(await as("suspended", "GET", "/mine"), 200);
  assert.equal(await as("suspended", "POST", "/mine"), 403);
  assert.equal(await as("pending", "PATCH", "/own"), 200);
  assert.equal(await as("pending", "POST", "/mine"), 403);
  assert.equal(await as("deleted", "GET", "/mine"), 403);
});

test("a sensitive change without a recent sign-in is refused with its challenge", async (t) => {
  const nowMs = systemClock.nowMs();
  const token = (ageMs: number) =>
    testPrincipal({ credential: { kind: "token", id: "jti:1", authTimeMs: nowMs - ageMs } });
  const principals = { fresh: token(60_000), old: token(16 * 60_000), key: testPrincipal() };
  const { request } = await serveRoutes(t, routes(), { principals, rateLimits: limits() });
  const as = (who: string) => request("/secret", { method: "POST", headers: { authorization: `Bearer ${who}` } });
  assert.equal((await as("fresh")).status, 200);
  assert.equal((await as("key")).status, 200);
  const refusal = await as("old");
  assert.equal(refusal.status, 403);
  assert.equal((await errorOf(refusal)).details?.[0]?.code, "step_up_required");
  const challenge = refusal.headers.get("www-authenticate") ?? "";
  assert.match(challenge, /^Bearer .*error="insufficient_user_authentication".* max_age="900"$/);
  const other = await request("/switched-off", { headers: { authorization: "Bearer old" } });
  assert.deepEqual([other.status, other.headers.get("www-authenticate")], [403, null]);
});

test("an optional credential may be absent, but not bad", async (t) => {
  const { url, request } = await serveRoutes(t, routes(), { rateLimits: limits() });
  assert.deepEqual(await (await fetch(`${url}/maybe`)).json(), { account: null });
  assert.deepEqual(await (await request("/maybe")).json(), { account: "acc_1" });
  assert.equal((await request("/maybe", { headers: { authorization: "Bearer bad" } })).status, 401);
});

test("every answer shows the allowance that it used, 304 or errors included", async (t) => {
  const table = routes();
  table.get("/etag", {
    summary,
    responses,
    auth: { scopes: [] },
    handle: () => ok({ account: null }, { etag: '"e"' }),
  });
  const rateLimits = testLimits({
    credentialBurst: testLimiter("credential-burst", 9),
    credential: testLimiter("credential", 3),
    account: testLimiter("account", 8),
    named: { special: testLimiter("special", 1) },
  });
  const { request } = await serveRoutes(t, table, { rateLimits });
  const first = await request("/etag");
  const policies = '"credential-burst";q=9;w=10, "credential";q=3;w=10, "account";q=8;w=10';
  assert.equal(first.headers.get("ratelimit-policy"), policies);
  const left = '"credential-burst";r=8;t=7, "credential";r=2;t=7, "account";r=7;t=7';
  assert.equal(first.headers.get("ratelimit"), left);
  const second = await request("/etag", { headers: { "if-none-match": '"e"' } });
  assert.equal(second.status, 304);
  assert.match(second.headers.get("ratelimit") ?? "", /"credential";r=1;t=7, "account";r=6;t=7$/);
  assert.equal((await request("/etag?wrong=1")).status, 400);
  const refusal = await request("/etag");
  assert.equal(refusal.status, 429);
  assert.equal(refusal.headers.get("retry-after"), "7");
  assert.match(refusal.headers.get("ratelimit") ?? "", /, "credential";r=0;t=7$/);
  assert.equal(refusal.headers.get("ratelimit-policy"), policies, "all that apply, also where one refuses");
  assert.equal((await errorOf(refusal)).code, "rate_limited");
});

test("a burst is refused without taking from the window's allowance", async (t) => {
  const burst = testLimiter("credential-burst", 1);
  const rateLimits = { ...limits(), credential: testLimiter("credential", 10), credentialBurst: burst };
  const { request } = await serveRoutes(t, routes(), { rateLimits });
  assert.match((await request("/mine")).headers.get("ratelimit") ?? "", /"credential";r=9;t=7/);
  const refusal = await request("/mine");
  assert.deepEqual([refusal.status, refusal.headers.get("ratelimit")], [429, '"credential-burst";r=0;t=7']);
  burst.take("key_1", -2);
  assert.match((await request("/mine")).headers.get("ratelimit") ?? "", /"credential";r=8;t=7/);
});

test("the credentials of an account share one allowance, which a greedy one cannot use up", async (t) => {
  const credentialOf = (accountId: string, id: string) =>
    testPrincipal({ accountId, credential: { kind: "token", id: `jti:${id}`, authTimeMs: null } });
  const principals = Object.fromEntries(
    ["a1", "a2", "a3", "b1"].map((id) => [id, credentialOf(`acc_${id.charAt(0)}`, id)]),
  );
  const rateLimits = { ...limits(), credential: testLimiter("credential", 4), account: testLimiter("account", 6) };
  const { request } = await serveRoutes(t, routes(), { principals, rateLimits });
  const answersTo = async (credential: string, count: number) => {
    const statuses: number[] = [];
    for (let each = 0; each < count; each++) {
      statuses.push((await request("/mine", { headers: { authorization: `Bearer ${credential}` } })).status);
    }
    return statuses.filter((status) => status === 200).length;
  };
  assert.equal(await answersTo("a1", 40), 4, "what is refused for the credential is not taken from the account");
  assert.equal(await answersTo("a2", 3), 2);
  assert.equal(await answersTo("a3", 3), 0);
  assert.equal(await answersTo("b1", 3), 3, "another account has its own");
});

test("routes may name another policy, or none", async (t) => {
  const rateLimits = testLimits({
    anonymous: testLimiter("anonymous", 0),
    named: { special: testLimiter("special", 1) },
  });
  const { request } = await serveRoutes(t, routes(), { rateLimits });
  assert.equal((await request("/free")).status, 200);
  assert.equal((await request("/open")).status, 429);
  assert.equal((await request("/special")).status, 200);
  assert.equal((await request("/special")).status, 429);
  assert.equal((await request("/mine")).status, 200);
});

test("anonymous requests are counted by address, unknown paths too", async (t) => {
  const rateLimits = testLimits({
    anonymous: testLimiter("anonymous", 2),
    named: { special: testLimiter("special", 1) },
  });
  const settings = ["--http.trusted-proxies=127.0.0.1"];
  const { url } = await serveRoutes(t, routes(), { rateLimits, settings });
  const from = async (address: string, path: string) =>
    (await fetch(url + path, { headers: { "x-forwarded-for": address } })).status;
  assert.equal(await from("198.51.100.1", "/open"), 200);
  assert.equal(await from("198.51.100.1", "/nothing"), 404);
  assert.equal(await from("198.51.100.1", "/nothing"), 429);
  assert.equal(await from("198.51.100.2", "/mine"), 401);
});

test("guessed credentials are limited by address; good ones from the same address keep working", async (t) => {
  const rateLimits = testLimits({
    failedSignIn: testLimiter("failed-sign-in", 2),
    named: { special: testLimiter("special", 1) },
  });
  const { request } = await serveRoutes(t, routes(), { rateLimits });
  const guess = async () => (await request("/mine", { headers: { authorization: "Bearer bad" } })).status;
  assert.deepEqual([await guess(), await guess(), await guess()], [401, 401, 429]);
  assert.equal((await request("/mine")).status, 200);
});

test("while credentials cannot be checked it is 503, not 401", async (t) => {
  const authenticator = {
    authenticate: async () => {
      throw new AppError("unavailable", "Credentials cannot be checked right now.", { retryAfterSeconds: 2 });
    },
    remembered: () => null,
  };
  const { request } = await serveRoutes(t, routes(), { authenticator, rateLimits: limits() });
  const response = await request("/mine");
  assert.deepEqual([response.status, response.headers.get("retry-after")], [503, "2"]);
});

test("the audit gets exactly the 403s of known callers, thrown or returned", async (t) => {
  const recorded: unknown[] = [];
  const { request } = await serveRoutes(t, routes(), {
    principals: { reader: testPrincipal({ accountId: "acc_r", only: ["images:read"] }) },
    rateLimits: limits(),
    onForbidden: ({ caller, operation, refusal }) =>
      void recorded.push([caller.accountId, operation, refusal.details?.[0]?.code ?? refusal.code, caller.requestId]),
  });
  const as = (who: string, method: string, path: string) =>
    request(path, { method, headers: { authorization: `Bearer ${who}`, "x-request-id": `${who}-${method}` } });
  await as("reader", "GET", "/mine");
  await as("nobody", "POST", "/mine");
  assert.equal((await as("reader", "POST", "/mine")).status, 403);
  assert.equal((await as("reader", "GET", "/switched-off")).status, 403);
  assert.deepEqual(recorded, [
    ["acc_r", "POST /mine", "scope_required", "reader-POST"],
    ["acc_r", "GET /switched-off", "forbidden", "reader-GET"],
  ]);
});
