import assert from "node:assert/strict";
import test from "node:test";
import { createManualClock, seconds } from "@signalbox/core";
import { z } from "zod";
import { serveRoutes } from "../edge-fixture.ts";
import { ok, refused } from "../responses/http-response.ts";
import { createRoutes } from "../routes/create-routes.ts";

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

test("one line per request has the caller, operation, outcome and duration, without the query", async (t) => {
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

test("requests are counted and timed by method, route and status, never by a caller's own text", async (t) => {
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
