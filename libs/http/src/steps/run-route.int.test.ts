import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { AppError } from "@signalbox/core";
import { openPool, type Pool, sql, table } from "@signalbox/storage";
import { type TestDatabase, testContext, testDatabase } from "@signalbox/testing";
import { z } from "zod";
import { serveRoutes } from "../../test/edge-fixture.ts";
import { createRoutes } from "../routes/create-routes.ts";
import { noContent, ok, refused } from "../routes/http-response.ts";

const context = testContext("account", {});
const things = table("things", { id: "text", name: "text", size: "int4", tags: "jsonb" });
const rename = things.update("name");
const resize = things.update("size", "tags");
const read = sql("things.read", `select ${things.columns}, xmin::text as version from things where id = $1`);
const lock = sql("things.lock", `select ${things.columns} from things where id = $1 for update`);
const Thing = z.object({ id: z.string(), name: z.string(), size: z.int(), tags: z.array(z.string()) });
type Thing = z.output<typeof Thing> & { version?: string };
let database: TestDatabase;
let pool: Pool;

before(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, max: 4, applicationName: "run-route-test", ...context });
  await pool.query(sql("", "create table things (id text primary key, name text, size int, tags jsonb)"));
});
beforeEach(async () => {
  await pool.query(sql("", "truncate things"));
  await things.insert(pool, { id: "a", name: "first", size: 1, tags: ["x"] });
});
after(async () => {
  await context.close();
  await database.close();
});

const stored = async (id = "a") => (await pool.query<Thing>(lock, [id])).rows[0];
const etagOf = ({ name }: Thing) => `"${name}"`;
const body = z.strictObject({ name: z.string() });
const auth = { scopes: ["account:write"] } as const;

/** PATCH renames under the lock, PUT without one, POST creates, DELETE writes and is then refused. */
function thingRoutes(onChange: (attempt: "statement" | "lock") => void | Promise<void> = () => {}) {
  const routes = createRoutes();
  const find = async (tx: Parameters<typeof rename>[0], id: string) =>
    (await tx.query<Thing>(lock, [id])).rows[0] ?? null;
  routes.patch("/things/:id", {
    summary: "Rename",
    auth,
    body,
    responses: { 200: Thing, 404: "error", 409: "error" },
    write: {
      find: (tx, { params }) => find(tx, params.id),
      etag: etagOf,
      async change(tx, thing, { body, caller }) {
        assert.equal(caller.accountId, "acc_1");
        const renamed = { ...thing, name: body.name };
        await rename(tx, renamed);
        return renamed;
      },
      answer: (thing) => ok(thing, { etag: etagOf(thing) }),
    },
  });
  routes.put("/things/:id", {
    summary: "Rename without a lock",
    auth,
    body,
    responses: { 200: Thing, 404: "error", 409: "error" },
    write: {
      read: async ({ params }) => (await pool.query<Thing>(read, [params.id])).rows[0] ?? null,
      find: (tx, { params }) => find(tx, params.id),
      etag: etagOf,
      async change(tx, thing, { body }) {
        await onChange(tx.isOneStatement ? "statement" : "lock");
        const renamed = { ...thing, name: body.name };
        await rename(tx, renamed);
        return renamed;
      },
      answer: ({ version: _, ...thing }) => ok(thing),
    },
  });
  routes.post("/things", {
    summary: "Make",
    auth,
    body,
    responses: { 204: "empty", 409: "error" },
    create: {
      run: async (tx, { body: { name } }) => things.insertNew(tx, { id: name, name, size: 0, tags: [] }),
      answer: (inserted) => (inserted ? noContent() : refused(409, "conflict")),
    },
  });
  routes.delete("/things/:id", {
    summary: "Fail after a write",
    auth,
    responses: { 204: "empty", 404: "error" },
    write: {
      find: (tx, { params }) => find(tx, params.id),
      async change(tx, thing) {
        await resize(tx, { ...thing, size: 99 });
        throw new Error("broken");
      },
      answer: () => noContent(),
    },
  });
  return routes;
}

test("a write checks If-Match before it answers with the changed row", async (t) => {
  const { json } = await serveRoutes(t, thingRoutes(), { pool });
  const stale = await json("/things/a", "PATCH", { name: "second" }, { "if-match": '"other"' });
  assert.deepEqual([stale.status, (await stored())?.name], [409, "first"]);
  const renamed = await json("/things/a", "PATCH", { name: "second" }, { "if-match": '"first"' });
  assert.deepEqual([renamed.status, renamed.headers.get("etag")], [200, '"second"']);
  assert.deepEqual(await stored(), { id: "a", name: "second", size: 1, tags: ["x"] });
  assert.equal((await json("/things/none", "PATCH", { name: "x" })).status, 404);
});

test("a write without a lock is one statement, repeated under the lock after a lost race", async (t) => {
  const attempts: string[] = [];
  const { json } = await serveRoutes(
    t,
    thingRoutes(async (attempt) => {
      attempts.push(attempt);
      if (attempts.length === 2) await resize(await directly(), { id: "a", size: 7, tags: ["quick"] });
    }),
    { pool },
  );
  assert.equal((await json("/things/a", "PUT", { name: "alone" })).status, 200);
  assert.deepEqual(attempts, ["statement"]);
  assert.equal((await json("/things/a", "PUT", { name: "late" })).status, 200);
  assert.deepEqual(attempts, ["statement", "statement", "lock"]);
  assert.deepEqual(await stored(), { id: "a", name: "late", size: 7, tags: ["quick"] });
  assert.equal((await json("/things/none", "PUT", { name: "x" })).status, 404);
});

test("a creation runs in one transaction, whose refusal is an answer", async (t) => {
  const { json } = await serveRoutes(t, thingRoutes(), { pool });
  assert.equal((await json("/things", "POST", { name: "b" })).status, 204);
  assert.equal((await json("/things", "POST", { name: "b" })).status, 409);
  assert.deepEqual(await stored("b"), { id: "b", name: "b", size: 0, tags: [] });
});

test("a refusal undoes what was written on the way to it", async (t) => {
  const routes = createRoutes();
  const declared = { auth, summary: "Add, then refuse", responses: { 204: "empty", 409: "error" } } as const;
  const add = async (tx: Parameters<typeof rename>[0], id: string) =>
    void (await things.insert(tx, { id, name: "half", size: 0, tags: [] }));
  const answer = () => refused(409, "conflict");
  routes.post("/half", { ...declared, create: { run: (tx) => add(tx, "half"), answer } });
  routes.delete("/things/:id", {
    ...declared,
    write: { find: async () => ({}), change: (tx) => add(tx, "other half"), answer },
  });
  const { json } = await serveRoutes(t, routes, { pool });
  assert.deepEqual([(await json("/half", "POST", undefined)).status, await stored("half")], [409, undefined]);
  assert.deepEqual(
    [(await json("/things/a", "DELETE", undefined)).status, await stored("other half")],
    [409, undefined],
  );
});

test("a creation or write prepares before its transaction, which a refusal never opens", async (t) => {
  const open = sql(
    "",
    "select count(*)::int as count from pg_stat_activity where datname = current_database() and state like 'idle in%'",
  );
  const transactions = async () => (await pool.query<{ count: number }>(open, [])).rows[0]?.count;
  const routes = createRoutes();
  const seen: unknown[] = [];
  async function prepare({ body: { name } }: { readonly body: z.output<typeof body> }): Promise<void> {
    if (name === "refused") throw new AppError("validation_error", "No such name.", { field: "name" });
    seen.push(await transactions());
  }
  routes.post("/things", {
    summary: "Make",
    auth,
    body,
    responses: { 204: "empty", 422: "error" },
    create: {
      async prepare(input) {
        await prepare(input);
        return "prepared";
      },
      run: async (_tx, _input, prepared) => seen.push(await transactions(), prepared),
      answer: () => noContent(),
    },
  });
  routes.put("/things/:id", {
    summary: "Rename",
    auth,
    body,
    responses: { 204: "empty", 404: "error", 422: "error" },
    write: {
      prepare,
      find: async (tx, { params }) => (await tx.query<Thing>(lock, [params.id])).rows[0] ?? null,
      change: async () => seen.push(await transactions()),
      answer: () => noContent(),
    },
  });
  const { json } = await serveRoutes(t, routes, { pool });
  assert.equal((await json("/things", "POST", { name: "b" })).status, 204);
  assert.equal((await json("/things/a", "PUT", { name: "b" })).status, 204);
  assert.deepEqual(seen, [0, 1, "prepared", 0, 1]);
  assert.equal((await json("/things", "POST", { name: "refused" })).status, 422);
  assert.equal((await json("/things/a", "PUT", { name: "refused" })).status, 422);
  assert.equal(seen.length, 5);
});

test("a write that fails leaves nothing behind", async (t) => {
  const { request } = await serveRoutes(t, thingRoutes(), { pool });
  assert.equal((await request("/things/a", { method: "DELETE" })).status, 500);
  assert.equal((await stored())?.size, 1);
});

test("a table that writes is refused without a database", async (t) => {
  await assert.rejects(async () => serveRoutes(t, thingRoutes()), /writes: it needs a pool/);
});

test("a route without a handler is refused", async (t) => {
  const routes = createRoutes();
  routes.get("/nothing", { summary: "", auth: "anonymous", responses: { 200: "empty" } });
  await assert.rejects(async () => serveRoutes(t, routes), /needs one of handle, write and create, has 0/);
});

/** A transaction of another client: a single statement that commits by itself. */
async function directly() {
  return { query: pool.query, afterCommit: () => {} };
}
