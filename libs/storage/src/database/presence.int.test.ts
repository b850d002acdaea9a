import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, type TestDatabase, testContext, testDatabase } from "@signalbox/testing";
import { advisoryLock } from "./advisory-lock.ts";
import { openPool, type Pool } from "./pool.ts";
import { sql } from "./prepared-statement.ts";
import { isGone, startPresence } from "./presence.ts";
import { inTransaction } from "./transaction.ts";

const shared = testContext("account", {});
let database: TestDatabase;
let pool: Pool;
before(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, max: 8, applicationName: "presence-test", ...shared });
  await pool.query(sql("", "create table things (owner text not null)"));
});
after(async () => {
  await shared.close();
  await database.close();
});

const gone = sql("", `select ${isGone("$1::int")} as gone`);
const isGoneFor = async (id: number | null) => (await pool.query<{ gone: boolean }>(gone, [id])).rows[0]?.gone;

test("a process that stops is there until the requests in hand are answered", async () => {
  const context = testContext("account", {});
  const presence = startPresence({
    pool: openPool({ url: database.url, max: 2, applicationName: "stopping", ...context }),
    runner: context.runner,
  });
  const answered = Promise.withResolvers<void>();
  context.runner.onDrain("requests", () => answered.promise);
  await eventually(() => presence.id() !== null);
  const id = presence.id();

  const closed = context.close();
  await eventually(() => context.runner.stopping.aborted);
  // Enough time for a worker to end its session.
  for (let asked = 0; asked < 20; asked++) assert.equal(await isGoneFor(id), false);
  assert.equal(presence.id(), id, "what a request claims now is of a process that lives");
  answered.resolve();
  await closed;
  assert.equal(presence.id(), null);
  assert.equal(await isGoneFor(id), true);
});

test("a connection that is lost is replaced under another id", async () => {
  const context = testContext("account", {});
  const own = openPool({ url: database.url, max: 2, applicationName: "lost", ...context });
  const presence = startPresence({ pool: own, runner: context.runner });
  await eventually(() => presence.id() !== null);
  const id = presence.id();
  const end = sql("", "select pg_terminate_backend(pid) from pg_locks where classid = 4202 and objid = $1::int::oid");
  await pool.query(end, [id]);
  await eventually(() => presence.id() !== null && presence.id() !== id);
  assert.equal(await isGoneFor(id), true);
  await context.close();
});

const count = sql("test.count", "select count(*)::int as count from things where owner = $1");
const insert = sql("test.insert", "insert into things (owner) values ($1)");

/** Adds a row unless its owner has `max`; returns true when it was added. */
const addUpTo = (max: number, owner: string) =>
  inTransaction(pool, async (tx) => {
    await advisoryLock(tx, `things:${owner}`);
    const [row] = (await tx.query<{ count: number }>(count, [owner])).rows;
    if ((row?.count ?? 0) >= max) return false;
    await tx.query(insert, [owner]);
    return true;
  });

test("a count under the lock of its name never passes its limit", async () => {
  const added = await Promise.all(Array.from({ length: 50 }, () => addUpTo(3, "busy")));
  assert.equal(added.filter(Boolean).length, 3);
});

test("a lock holds until its transaction ends, for its own name alone", async () => {
  const held = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const holder = inTransaction(pool, async (tx) => {
    await advisoryLock(tx, "things:slow");
    held.resolve();
    await ended.promise;
    await tx.query(insert, ["slow"]);
  });
  await held.promise;
  assert.equal(await addUpTo(1, "quick"), true);
  const waiting = addUpTo(1, "slow");
  ended.resolve();
  await holder;
  assert.equal(await waiting, false, "it counted what the holder had added");
});
