import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type TestDatabase, testContext, testDatabase } from "@signalbox/testing";
import { advisoryLock } from "./advisory-lock.ts";
import { openPool, type Pool } from "./pool.ts";
import { sql } from "./statement.ts";
import { inTransaction } from "./transaction.ts";

const context = testContext("account", {});
let database: TestDatabase;
let pool: Pool;

before(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, max: 8, applicationName: "lock-test", ...context });
  await pool.query(sql("", "create table things (owner text not null)"));
});
after(async () => {
  await context.close();
  await database.close();
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

test("a lock is held until its transaction ends, and keeps no other name waiting", async () => {
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
