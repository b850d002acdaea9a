import assert from "node:assert/strict";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createManualClock } from "@signalbox/core";
import { endRequestOfRejection } from "@signalbox/runtime";
import { eventually } from "@signalbox/testing";
import { serveRoutes } from "../../test/edge-fixture.ts";
import { createRoutes } from "../routes/create-routes.ts";
import { keptOpen, noContent } from "../routes/http-response.ts";

const shared = { summary: "x", auth: "anonymous", responses: { 200: "empty", 204: "empty" } } as const;
const forEver = new Promise<never>(() => {});

/** Stands in for the listener of a process; the test runner's own would fail the test. */
function endRejected(t: TestContext, log: Parameters<typeof endRequestOfRejection>[1]): void {
  const own = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  const outside: unknown[] = [];
  process.on("unhandledRejection", (error) => endRequestOfRejection(error, log) || outside.push(error));
  t.after(() => {
    process.removeAllListeners("unhandledRejection");
    for (const listener of own) process.on("unhandledRejection", listener);
    assert.deepEqual(outside, []);
  });
}

const sampleOf = async (metrics: { text(): Promise<string> }, name: string) =>
  Number(new RegExp(`^${name}\\{.*\\} (.*)$`, "m").exec(await metrics.text())?.[1]);

test("a rejection that nobody awaits is the 500 of its request, with its stack in the log", async (t) => {
  const routes = createRoutes();
  routes.get("/forgotten", {
    ...shared,
    handle: async () => {
      void sleep(1).then(() => Promise.reject(new Error("nobody awaits this")));
      return forEver;
    },
  });
  const { request, lines, context } = await serveRoutes(t, routes);
  endRejected(t, context.log);
  const answer = await request("/forgotten");
  assert.equal(answer.status, 500);
  const line = lines.find(({ error }) => (error as Error | undefined)?.message === "nobody awaits this");
  assert.equal(line?.request_id, answer.headers.get("x-request-id"));
  assert.match(JSON.stringify(line), /broken-off\.test/);
});

test("a rejection that nobody awaits ends the stream of its request", async (t) => {
  const routes = createRoutes();
  const ended = Promise.withResolvers<void>();
  routes.get("/stream", {
    ...shared,
    responses: { 200: { content: ["text/plain"] } },
    deadlineMs: null,
    handle: () =>
      keptOpen(
        (_request, response) => {
          response.once("close", ended.resolve).write("begun");
          void sleep(1).then(() => Promise.reject(new Error("nobody awaits this")));
        },
        { contentType: "text/plain" },
      ),
  });
  const { request, context } = await serveRoutes(t, routes);
  endRejected(t, context.log);
  const answer = await request("/stream");
  await assert.rejects(answer.text());
  await ended.promise;
  await eventually(async () => (await sampleOf(context.metrics, "signalbox_http_requests_in_flight")) === 0);
});

test("a request that ended before its rejection keeps its answer", async (t) => {
  const routes = createRoutes();
  const rejected = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  routes.get("/late", {
    ...shared,
    handle: () => {
      void late.promise.then(() => Promise.reject(new Error("nobody awaits this"))).finally(rejected.resolve);
      return noContent();
    },
  });
  const { request, lines, context } = await serveRoutes(t, routes);
  endRejected(t, context.log);
  assert.equal((await request("/late")).status, 204);
  late.resolve();
  await rejected.promise;
  await eventually(() => lines.some(({ level }) => level === "error"));
});

test("a handler that runs on after its deadline shows as an overdue request", async (t) => {
  const clock = createManualClock(new Date());
  const routes = createRoutes();
  routes.get("/slow", { ...shared, deadlineMs: 10, handle: () => forEver });
  const { request, context } = await serveRoutes(t, routes, { clock });
  assert.equal((await request("/slow")).status, 504);
  clock.advance(5_010);
  assert.equal(await sampleOf(context.metrics, "signalbox_http_overdue_seconds"), 5);
});

test("a handler without a deadline shows as an overdue request once its client has left", async (t) => {
  const clock = createManualClock(new Date());
  const routes = createRoutes();
  const gone = Promise.withResolvers<void>();
  routes.get("/poll", {
    ...shared,
    deadlineMs: null,
    handle: ({ signal }) => {
      signal.addEventListener("abort", () => gone.resolve());
      controller.abort();
      return forEver;
    },
  });
  const { request, context } = await serveRoutes(t, routes, { clock });
  const controller = new AbortController();
  await assert.rejects(request("/poll", { signal: controller.signal }));
  await gone.promise;
  assert.equal(await sampleOf(context.metrics, "signalbox_http_overdue_seconds"), 0);
  clock.advance(7_000);
  assert.equal(await sampleOf(context.metrics, "signalbox_http_overdue_seconds"), 7);
});
