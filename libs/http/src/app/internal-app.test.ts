import assert from "node:assert/strict";
import test from "node:test";
import { internalTokenHeader } from "@signalbox/auth";
import { z } from "zod";
import { errorOf, serveTest, testContext } from "../../test/edge-fixture.ts";
import { createRoutes } from "../routes/create-routes.ts";
import { ok } from "../routes/http-response.ts";
import { createInternalApp } from "./create-internal-app.ts";

function routes() {
  const table = createRoutes();
  table.post("/internal/echo", {
    summary: "Echo",
    auth: "anonymous",
    body: z.strictObject({ a: z.int() }),
    responses: { 200: z.object({ a: z.int() }) },
    handle: ({ body }) => ok(body),
  });
  return table;
}

test("nothing answers without the internal token; both live values are accepted", async (t) => {
  const { context } = testContext();
  let tokens = ["first-token", "second-token"];
  const app = createInternalApp({
    context,
    routes: routes(),
    tokens: () => tokens,
    mounts: { "/graphql": (request, response) => response.end(`graph ${request.url}`) },
  });
  const { url } = await serveTest(t, app);
  const call = (path: string, token?: string) =>
    fetch(url + path, {
      method: "POST",
      body: '{"a":1}',
      headers: { "content-type": "application/json", ...(token ? { [internalTokenHeader]: token } : {}) },
    });
  for (const path of ["/internal/echo", "/nothing", "/graphql"]) {
    for (const token of [undefined, "wrong", "first-token "]) {
      const response = await call(path, token?.trim() === "first-token" ? "first-tokem" : token);
      assert.equal(response.status, 401, path);
      assert.equal((await errorOf(response)).code, "unauthorized");
    }
  }
  for (const token of tokens) assert.deepEqual(await (await call("/internal/echo", token)).json(), { a: 1 });
  assert.equal(await (await call("/graphql", "first-token")).text(), "graph /graphql");
  assert.equal((await call("/graphqlx", "first-token")).status, 404);
  tokens = ["second-token"];
  assert.equal((await call("/internal/echo", "first-token")).status, 401);
});

test("a caller's token opens only the paths of that caller, and the shared token none", async (t) => {
  const { context, lines } = testContext();
  const tokenOf = (name: string) => `${name}-token-of-thirty-two-characters`;
  const table = createRoutes();
  const shared = { summary: "x", auth: "anonymous", responses: { 200: z.object({}) }, handle: () => ok({}) } as const;
  table.get("/internal/principals", shared);
  table.get("/internal/accounts/acc_1/export", shared);
  const app = createInternalApp({
    context,
    routes: table,
    tokens: ["the-token-of-the-house"],
    callers: () => ["gateway", "account", "images"].map((name) => `${name}=${tokenOf(name)}`),
    mounts: { "/graphql": (_, response) => response.end("graph") },
  });
  const { url } = await serveTest(t, app);
  const statuses = async (token: string) => {
    const paths = ["/graphql", "/internal/principals", "/internal/accounts/acc_1/export"];
    const answers = paths.map((path) => fetch(url + path, { headers: { [internalTokenHeader]: token } }));
    return (await Promise.all(answers)).map(({ status }) => status);
  };
  assert.deepEqual(await statuses(tokenOf("gateway")), [200, 200, 403]);
  assert.deepEqual(await statuses(tokenOf("account")), [403, 200, 200]);
  assert.deepEqual(await statuses(tokenOf("images")), [403, 200, 403]);
  assert.deepEqual(await statuses("the-token-of-the-house"), [401, 401, 401]);
  const refused = lines.filter(({ msg }) => msg === "the internal token of this caller does not open this path");
  assert.deepEqual(new Set(refused.map(({ caller }) => caller)), new Set(["gateway", "account", "images"]));
});

test("the internal listener refuses routes that require a principal", () => {
  const table = routes();
  table.get("/mine", { summary: "x", auth: { scopes: [] }, responses: { 200: z.object({}) }, handle: () => ok({}) });
  assert.throws(() => createInternalApp({ context: testContext().context, routes: table, tokens: ["t"] }), /\/mine/);
});
