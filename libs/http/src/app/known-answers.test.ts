import assert from "node:assert/strict";
import test from "node:test";
import { errorOf, serveRoutes, testLimiter, testLimits, testPrincipal } from "../../test/edge-fixture.ts";
import { createRoutes } from "../routes/create-routes.ts";
import { bytes, ok } from "../routes/http-response.ts";

const content = { content: ["image/png"] };
const about = { etag: '"e"', cache: "public, max-age=60", headers: { Vary: "Accept" } };
const shown = () => bytes(Buffer.from("pixels"), "image/png", about);

/** A route of which one path is known, unless it says otherwise. */
function knowing({ isSeen = true, answer = shown, mayBeAnonymous = true } = {}) {
  const routes = createRoutes();
  let handled = 0;
  routes.get("/pictures/:id", {
    summary: "x",
    auth: { scopes: ["images:read"], ...(mayBeAnonymous && { optional: true }) },
    responses: { 200: content },
    ownNegotiation: true,
    known: { find: ({ url }) => (url === "/pictures/known" ? { isFor: () => isSeen, answer } : null) },
    handle: () => {
      handled++;
      return shown();
    },
  });
  routes.get("/other", { summary: "x", auth: "anonymous", responses: { 204: "empty" }, handle: () => ok(null) });
  return { routes, handled: () => handled };
}

const headersOf = ({ headers }: Response) =>
  [...headers].filter(([name]) => !["date", "x-request-id", "ratelimit"].includes(name));

test("a known answer has the headers of the handler's, counts, and is logged and measured under its route", async (t) => {
  const { routes, handled } = knowing();
  const { request, lines, context } = await serveRoutes(t, routes);
  const [known, unknown] = [await request("/pictures/known"), await request("/pictures/unknown")];
  assert.equal(handled(), 1);
  assert.deepEqual(headersOf(known), headersOf(unknown));
  assert.equal(known.headers.get("connection"), "keep-alive");
  assert.deepEqual([await known.text(), await unknown.text()], ["pixels", "pixels"]);
  const remaining = [known, unknown].map(
    ({ headers }) => /"credential";r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1],
  );
  assert.deepEqual(remaining, ["999999", "999998"]);
  const kept = ({ trace_id, span_id, time, path, duration_ms, request_id, ...line }: Record<string, unknown>) => {
    assert.match(`${trace_id} ${span_id}`, /^[0-9a-f]{32} [0-9a-f]{16}$/);
    assert.deepEqual([typeof time, typeof path, typeof duration_ms, typeof request_id].sort(), [
      "number",
      "string",
      "string",
      "string",
    ]);
    return line;
  };
  const [first, second] = lines.filter(({ msg }) => msg === "request").map(kept);
  assert.ok(first);
  assert.deepEqual(first, second);
  const text = await context.metrics.text();
  assert.match(text, /duration_seconds_count\{[^}]*route="\/pictures\/:id"[^}]*\} 2/);
  assert.match(text, /signalbox_http_requests_in_flight\{[^}]*\} 0/);
});

test("a HEAD has the headers of the known answer alone", async (t) => {
  const { routes, handled } = knowing();
  const { request } = await serveRoutes(t, routes);
  const head = await request("/pictures/known", { method: "HEAD" });
  assert.deepEqual([head.status, head.headers.get("content-length"), await head.text()], [200, "6", ""]);
  assert.equal(handled(), 0);
});

test("a part, another method or a caller to be refused is left to the route", async (t) => {
  const principals = {
    good: testPrincipal(),
    narrow: testPrincipal({ scopes: new Set(["config:read"]) }),
    blocked: testPrincipal({ state: "disabled" }),
    portal: testPrincipal({ portal: { endpointIds: null } }),
  };
  const { routes, handled } = knowing();
  const { request } = await serveRoutes(t, routes, { principals });
  await request("/pictures/known", { headers: { range: "bytes=0-1" } });
  assert.equal(handled(), 1);
  assert.equal((await request("/pictures/known", { method: "POST" })).status, 405);
  for (const [value, status] of Object.entries({ narrow: 403, blocked: 403, portal: 403, bad: 401 })) {
    const answer = await request("/pictures/known", { headers: { authorization: `Bearer ${value}` } });
    assert.equal(answer.status, status, value);
  }
  const both = await request("/pictures/known", { headers: { authorization: "Bearer good", "x-api-key": "good" } });
  assert.equal(both.status, 400);
  assert.equal(handled(), 1);
});

test("a caller to whom the answer is not known to be open gets that of the route", async (t) => {
  const { routes, handled } = knowing({ isSeen: false });
  const { request } = await serveRoutes(t, routes);
  assert.equal((await request("/pictures/known")).status, 200);
  assert.equal(handled(), 1);
  const strict = knowing({ mayBeAnonymous: false });
  const { url } = await serveRoutes(t, strict.routes);
  assert.equal((await fetch(`${url}/pictures/known`)).status, 401);
});

test("a known answer beyond a rate limit is a recorded refusal like any other", async (t) => {
  const limits = { credential: testLimiter("credential", 1), anonymous: testLimiter("anonymous", 1) };
  const told: string[] = [];
  const { routes, handled } = knowing();
  const { request, url } = await serveRoutes(t, routes, {
    rateLimits: testLimits(limits),
    onRefused: ({ operation, status }) => void told.push(`${operation} ${status}`),
  });
  const ask = { credential: () => request("/pictures/known"), address: () => fetch(`${url}/pictures/known`) };
  for (const [who, send] of Object.entries(ask)) {
    assert.equal((await send()).status, 200, who);
    const refused = await send();
    assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "7"], who);
    assert.equal((await errorOf(refused)).code, "rate_limited");
  }
  assert.deepEqual(told, ["GET /pictures/:id 429"]);
  assert.equal(handled(), 0);
});

test("an answer that fails is a 500 with its error in the log", async (t) => {
  const fail = () => {
    throw new Error("no bytes");
  };
  const { routes } = knowing({ answer: fail });
  const { request, lines } = await serveRoutes(t, routes);
  assert.equal((await request("/pictures/known")).status, 500);
  assert.match(JSON.stringify(lines.at(-1)), /request failed.*no bytes|no bytes.*request failed/);
});
