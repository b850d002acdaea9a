import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import { createManualClock, systemClock } from "@signalbox/core";
import { createRunner } from "@signalbox/runtime";
import {
  createSealer,
  inTransaction,
  migrate,
  openPool,
  type Pool,
  type Presence,
  sql,
  startPresence,
  startRetention,
} from "@signalbox/storage";
import { eventually, type TestDatabase, testDatabase } from "@signalbox/testing";
import { z } from "zod";
import { errorOf, serveRoutes, testContext, testPrincipal } from "../../test/edge-fixture.ts";
import { createIdempotencyStore, httpMigrations } from "../idempotency/idempotency-store.ts";
import { createRoutes } from "./create-routes.ts";
import { created, refused } from "./http-response.ts";
import { keptMs } from "./idempotency.ts";

let database: TestDatabase;
let pool: Pool;
const closes: (() => unknown)[] = [];

before(async () => {
  database = await testDatabase();
  const { context } = testContext();
  const { log, metrics } = context;
  await migrate({
    url: database.url,
    service: "account",
    prismaDirectory: null,
    libraryMigrations: [httpMigrations],
    log,
  });
  const runner = { defer: (_name: string, close: () => unknown) => void closes.push(close) };
  pool = openPool({ url: database.url, max: 8, applicationName: "idempotency-test", log, metrics, runner });
  await pool.query(sql("", "create table effect (id bigserial primary key, name text)"));
});

after(async () => {
  for (const close of closes.reverse()) await close();
  await database.close();
});

const insertEffect = sql("effect.insert", "insert into effect (name) values ($1) returning id");
const countEffects = sql("effect.count", "select count(*)::int as count from effect where name = $1");
const countOf = async (name: string) => (await pool.query<{ count: number }>(countEffects, [name])).rows[0]?.count;

const Thing = z.object({ id: z.string(), name: z.string(), secret: z.string().optional() });
const Body = z.strictObject({ name: z.string(), fail: z.string().optional() });

/** A gate at which a handler waits until the test opens it. */
interface Gate {
  /** Resolves once a request has arrived, and therefore holds its key. */
  readonly entered: PromiseWithResolvers<void>;
  readonly opened: PromiseWithResolvers<void>;
}
const closedGate = (): Gate => ({ entered: Promise.withResolvers(), opened: Promise.withResolvers() });

function routes(gate?: Gate) {
  const table = createRoutes();
  const shared = {
    summary: "x",
    auth: { scopes: ["images:write"] },
    body: Body,
    responses: { 201: Thing, 409: "error" },
  } as const;
  table.post("/things", {
    ...shared,
    idempotent: true,
    handle: async ({ body, idempotency }) => {
      gate?.entered.resolve();
      await gate?.opened.promise;
      if (body.fail === "refuse") return refused(409, "conflict");
      return inTransaction(pool, async (tx) => {
        const { rows } = await tx.query<{ id: bigint }>(insertEffect, [body.name]);
        const id = String(rows[0]?.id);
        const response = created(`/things/${id}`, { id, name: body.name, leaked: "no" }, { etag: '"e"' });
        await idempotency.complete(tx, response);
        if (body.fail === "rollback") throw new Error("the effect was rolled back");
        return response;
      });
    },
  });
  table.post("/keys", {
    ...shared,
    idempotent: "sealed",
    handle: ({ body, idempotency }) =>
      inTransaction(pool, async (tx) => {
        const response = created("/keys/1", { id: "1", name: body.name, secret: "sbx_live_shown_once" });
        await tx.query(insertEffect, [body.name]);
        await idempotency.complete(tx, response);
        return response;
      }),
  });
  table.post("/plain", {
    ...shared,
    idempotent: true,
    handle: ({ body }) => created("/plain/1", { id: "1", name: body.name }),
  });
  table.post("/upload", {
    ...shared,
    body: { multipart: true },
    idempotent: true,
    handle: async ({ request, idempotency }) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const name = /name="(n-[^"]+)"/.exec(Buffer.concat(chunks).toString())?.[1] ?? "";
      const kept = await idempotency.begin({ file: name });
      if (kept) return kept;
      return inTransaction(pool, async (tx) => {
        await tx.query(insertEffect, [name]);
        const response = created("/upload/1", { id: "1", name });
        await idempotency.complete(tx, response);
        return response;
      });
    },
  });
  return table;
}

const sealer = createSealer([`k1:${Buffer.alloc(32, 7).toString("base64")}`]);
let serial = 0;

interface Serve {
  readonly gate?: Gate;
  readonly clock?: typeof systemClock;
  readonly presence?: Presence;
  /** The pool of the idempotency store. */
  readonly asked?: Pool;
}

async function serve(t: TestContext, options: Serve = {}) {
  const { gate, clock = systemClock, presence, asked = pool } = options;
  const store = createIdempotencyStore({
    service: "account",
    pool: asked,
    sealer,
    clock,
    ...(presence && { presence }),
  });
  const principals = {
    good: testPrincipal(),
    "another-key": testPrincipal({ credential: { kind: "api-key", id: "key_2", authTimeMs: null } }),
    narrow: testPrincipal({ roles: [], only: ["images:write"] }),
    "client-now": testPrincipal({ credential: { kind: "client", id: "client_1", tokenId: "one", authTimeMs: null } }),
    "client-later": testPrincipal({ credential: { kind: "client", id: "client_1", tokenId: "two", authTimeMs: null } }),
    other: testPrincipal({ accountId: "acc_2" }),
    suspended: testPrincipal({ state: "suspended" }),
    "suspended-reader": testPrincipal({ state: "suspended", only: ["images:read"] }),
    "other-suspended": testPrincipal({ accountId: "acc_2", state: "suspended" }),
  };
  const app = await serveRoutes(t, routes(gate), { idempotency: store, strict: false, principals });
  const key = `key-${process.pid}-${serial++}`;
  const name = `n-${key}`;
  const post = (body: object = { name }, headers: Record<string, string> = {}, path = "/things") =>
    app.json(path, "POST", body, { "idempotency-key": key, ...headers });
  return { ...app, store, key, name, post };
}

test("a repetition under the same key replays the answer without a second effect", async (t) => {
  const { post, name } = await serve(t);
  const first = await post();
  const again = await post();
  assert.deepEqual([first.status, again.status, await countOf(name)], [201, 201, 1]);
  assert.deepEqual(await again.json(), await first.json());
  for (const header of ["location", "etag", "content-type"]) {
    assert.equal(again.headers.get(header), first.headers.get(header), header);
  }
  assert.deepEqual(
    [first.headers.get("idempotent-replayed"), again.headers.get("idempotent-replayed")],
    [null, "true"],
  );
});

test("only another value makes a repetition 422, not order or whitespace", async (t) => {
  const { json, post, key, name } = await serve(t);
  assert.equal((await post({ name, fail: "no" })).status, 201);
  const reordered = await json("/things/", "POST", `{ "fail":"no",\n "name":"${name}" }`, { "idempotency-key": key });
  assert.deepEqual([reordered.status, reordered.headers.get("idempotent-replayed")], [201, "true"]);
  for (const [path, body] of [
    ["/things", { name: "other" }],
    ["/plain", { name, fail: "no" }],
  ] as const) {
    const refusal = await post(body, {}, path);
    assert.equal(refusal.status, 422, path);
    assert.equal((await errorOf(refusal)).details?.[0]?.code, "key_reused");
  }
  assert.equal(await countOf(name), 1);
});

test("of two concurrent requests the second is refused as in progress", async (t) => {
  const gate = closedGate();
  const { post, name } = await serve(t, { gate });
  const first = post();
  await gate.entered.promise;
  assert.equal((await post()).status, 409);
  gate.opened.resolve();
  assert.equal((await first).status, 201);
  assert.equal((await post()).headers.get("idempotent-replayed"), "true");
  assert.equal(await countOf(name), 1);
});

test("twenty concurrent requests have one effect", async (t) => {
  const { post, name } = await serve(t);
  const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await post()).status));
  assert.equal(statuses.includes(201), true);
  assert.deepEqual(
    statuses.filter((status) => status !== 201 && status !== 409),
    [],
  );
  assert.equal(await countOf(name), 1);
});

test("a refusal or a rolled-back effect releases the key", async (t) => {
  for (const [fail, status] of [
    ["refuse", 409],
    ["rollback", 500],
  ] as const) {
    const { post, name } = await serve(t);
    assert.equal((await post({ name, fail })).status, status);
    assert.equal(await countOf(name), 0);
    const mended = await post({ name });
    assert.deepEqual([mended.status, mended.headers.get("idempotent-replayed"), await countOf(name)], [201, null, 1]);
  }
});

test("a dead process can no longer commit once its claim is taken over", async (t) => {
  const clock = createManualClock(systemClock.now());
  const gate = closedGate();
  const stuck = await serve(t, { gate, clock });
  const first = stuck.post();
  await gate.entered.promise;
  assert.equal((await stuck.post()).status, 409);
  clock.advance(6 * 60_000);
  const alive = await serve(t, { clock });
  const headers = { "idempotency-key": stuck.key };
  assert.equal((await alive.json("/things", "POST", { name: stuck.name }, headers)).status, 201);
  gate.opened.resolve();
  assert.equal((await first).status, 409);
  assert.equal(await countOf(stuck.name), 1);
});

test("a killed process releases its key at once, a living one keeps it", async (t) => {
  const presentIn = async (of: Pool) => {
    const runner = createRunner({ log: testContext().context.log, clock: systemClock });
    t.after(() => runner.stop(5_000));
    const presence = startPresence({ pool: of, runner });
    await eventually(() => presence.id() !== null);
    return presence;
  };
  const gate = closedGate();
  const killed = await serve(t, { gate, presence: await presentIn(pool) });
  const first = killed.post();
  await gate.entered.promise;
  const next = await serve(t, { presence: await presentIn(pool) });
  const again = () => next.json("/things", "POST", { name: killed.name }, { "idempotency-key": killed.key });
  assert.equal((await again()).status, 409, "it lives");

  const held =
    "select pid from pg_locks join signalbox.idempotency on objid = presence where classid = 4202 and key = $1";
  const end = sql("", `select pg_terminate_backend(pid) from (${held}) found`);
  assert.equal((await pool.query(end, [killed.key])).rowCount, 1);
  await eventually(async () => assert.equal((await again()).status, 201));
  gate.opened.resolve();
  assert.equal((await first).status, 409, "its effect is not committed a second time");
  assert.equal(await countOf(killed.name), 1);
});

test("a claim whose answer was lost is released with the refusal", async (t) => {
  let losses = 1;
  const asked: Pool = {
    ...pool,
    query: async (statement, values) => {
      const result = await pool.query(statement, values);
      if (statement.name === "idempotency.claim" && losses-- > 0) throw new Error("Connection terminated unexpectedly");
      return result as never;
    },
  };
  const { post, name } = await serve(t, { asked });
  assert.equal((await post()).status, 503);
  assert.equal((await post()).status, 201);
  assert.equal(await countOf(name), 1);
});

test("a claim left by an outage is released right after it, before it expires", async (t) => {
  let isOut = false;
  const asked: Pool = {
    ...pool,
    query: async (statement, values) => {
      if (isOut && statement.name === "idempotency.release") throw new Error("Connection terminated unexpectedly");
      return pool.query(statement, values);
    },
  };
  const { post, name } = await serve(t, { asked });
  isOut = true;
  assert.equal((await post({ name, fail: "refuse" })).status, 409);
  const underWay = await post({ name, fail: "refuse" });
  assert.equal((await errorOf(underWay)).message, "The same request is still in progress.");
  isOut = false;
  await eventually(async () => assert.equal((await post()).status, 201));
  assert.equal(await countOf(name), 1);
});

test("a claim that arrives after its refusal claims nothing", async (t) => {
  let late: (() => Promise<unknown>) | null = null;
  const asked: Pool = {
    ...pool,
    query: async (statement, values) => {
      if (statement.name !== "idempotency.claim" || late !== null) return pool.query(statement, values);
      late = () => pool.query(statement, values);
      throw new Error("Connection terminated unexpectedly");
    },
  };
  const { post, name } = await serve(t, { asked });
  const arrives = () => late?.();
  assert.equal((await post()).status, 503);
  await arrives();
  assert.equal((await post()).status, 201);
  await arrives();
  assert.equal((await post()).headers.get("idempotent-replayed"), "true");
  assert.equal(await countOf(name), 1);
});

test("the same key of another account is another key", async (t) => {
  const { post, name } = await serve(t);
  await post();
  assert.equal((await post({ name }, { authorization: "Bearer other" })).headers.get("idempotent-replayed"), null);
  assert.equal(await countOf(name), 2);
});

test("an account blocked meanwhile still gets only the answer to the same request", async (t) => {
  const clock = createManualClock(systemClock.now());
  const { post, json, request, key, name } = await serve(t, { clock });
  const first = await (await post()).json();
  const blocked = { authorization: "Bearer suspended" };
  const again = await post(undefined, blocked);
  assert.deepEqual([again.status, again.headers.get("idempotent-replayed")], [201, "true"]);
  assert.deepEqual(await again.json(), first);

  const refused: Record<string, () => Promise<Response>> = {
    "another request under the key": () => post({ name: "other" }, blocked),
    "another key": () => post(undefined, { ...blocked, "idempotency-key": `${key}-other` }),
    "no key": () =>
      request("/things", {
        method: "POST",
        headers: { ...blocked, "content-type": "application/json" },
        body: JSON.stringify({ name }),
      }),
    "another account": () => post(undefined, { authorization: "Bearer other-suspended" }),
    "a lacking scope": () => post(undefined, { authorization: "Bearer suspended-reader" }),
  };
  for (const [what, send] of Object.entries(refused)) assert.equal((await send()).status, 403, what);
  assert.equal(await countOf(name), 1);
  clock.advance(keptMs);
  assert.equal((await post(undefined, blocked)).status, 403, "after 24 hours");
  assert.equal((await json("/things", "POST", { name }, { "idempotency-key": key })).status, 201);
  assert.equal(await countOf(name), 2, "the blocked attempts have claimed nothing");
});

test("an account blocked meanwhile sees neither a request in progress nor a secret again", async (t) => {
  const gate = closedGate();
  const { post, key } = await serve(t, { gate });
  const blocked = { authorization: "Bearer suspended" };
  const first = post();
  await gate.entered.promise;
  assert.equal((await post()).status, 409);
  assert.equal((await post(undefined, blocked)).status, 403);
  gate.opened.resolve();
  assert.equal((await first).status, 201);
  const made = { "idempotency-key": `${key}-made` };
  assert.equal((await post(undefined, made, "/keys")).status, 201);
  assert.equal((await post(undefined, { ...made, ...blocked }, "/keys")).status, 403);
});

test("an answer with a secret is replayed in clear but stored sealed", async (t) => {
  const { post, key, name } = await serve(t);
  await post({ name }, {}, "/keys");
  const kept = sql("", "select body, sealed from signalbox.idempotency where key = $1");
  const { rows } = await pool.query<{ body: string; sealed: boolean }>(kept, [key]);
  assert.equal(rows[0]?.sealed, true);
  assert.doesNotMatch(rows[0]?.body ?? "", /sbx_live/);
  const again = (await (await post({ name }, {}, "/keys")).json()) as { secret: string };
  assert.equal(again.secret, "sbx_live_shown_once");
});

test("an answer with a secret is for no other credential of the account", async (t) => {
  const { post, name } = await serve(t);
  await post({ name }, {}, "/keys");
  for (const other of ["another-key", "narrow", "client-now"]) {
    const refused = await post({ name }, { authorization: `Bearer ${other}` }, "/keys");
    const text = await refused.text();
    assert.equal(refused.status, 409, other);
    assert.match(text, /"field":"Idempotency-Key"/);
    assert.doesNotMatch(text, /sbx_live/);
  }
  assert.equal((await post({ name: "other" }, { authorization: "Bearer narrow" }, "/keys")).status, 422);
  assert.equal((await post({ name }, {}, "/keys")).headers.get("idempotent-replayed"), "true");
  assert.equal(await countOf(name), 1);
});

test("a service client gets its own answer with a later token too", async (t) => {
  const { post, name } = await serve(t);
  await post({ name }, { authorization: "Bearer client-now" }, "/keys");
  const again = await post({ name }, { authorization: "Bearer client-later" }, "/keys");
  assert.deepEqual([again.status, again.headers.get("idempotent-replayed")], [201, "true"]);
});

test("a handler without a transaction is replayed too", async (t) => {
  const { post } = await serve(t);
  await post(undefined, {}, "/plain");
  assert.equal((await post(undefined, {}, "/plain")).headers.get("idempotent-replayed"), "true");
});

test("a multipart request is compared by the content that its handler read", async (t) => {
  const { request, key, name } = await serve(t);
  const upload = async (field: string) => {
    const body = new FormData();
    body.set(field, "x");
    const headers = { "idempotency-key": key };
    return request("/upload", { method: "POST", body, headers });
  };
  const first = await upload(name);
  const again = await upload(name);
  assert.deepEqual([first.status, again.status, await countOf(name)], [201, 201, 1]);
  assert.equal(again.headers.get("idempotent-replayed"), "true");
  assert.equal((await upload(`${name}-other`)).status, 422);
});

test("requests without a key are independent; a malformed key is 400", async (t) => {
  const { json, post, name } = await serve(t);
  await json("/things", "POST", { name });
  await json("/things", "POST", { name });
  assert.equal(await countOf(name), 2);
  for (const key of ["a b", "x".repeat(256)]) {
    assert.equal((await post({ name }, { "idempotency-key": key })).status, 400, key);
  }
});

test("a key is new again after 24 hours, its expired record deleted", async (t) => {
  const clock = createManualClock(systemClock.now());
  const { post, name, key, store } = await serve(t, { clock });
  await post();
  clock.advance(keptMs - 1);
  assert.equal((await post()).headers.get("idempotent-replayed"), "true");
  clock.advance(2);
  assert.equal((await post()).headers.get("idempotent-replayed"), null);
  assert.equal(await countOf(name), 2);
  clock.advance(keptMs + 1);
  const runner = createRunner({ log: testContext().context.log, clock: systemClock });
  t.after(() => runner.stop(5_000));
  startRetention({ runner, pool, clock }, [store.retention]);
  const left = sql("", "select 1 from signalbox.idempotency where key = $1");
  await eventually(async () => assert.equal((await pool.query(left, [key])).rowCount, 0));
});
