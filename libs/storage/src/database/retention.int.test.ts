import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { createManualClock, hours, minutes } from "@signalbox/core";
import { eventually, type TestDatabase, testContext, testDatabase } from "@signalbox/testing";
import { openPool, type Pool } from "./pool.ts";
import { sql } from "./prepared-statement.ts";
import { type RetentionRule, startRetention } from "./retention.ts";
import { inTransaction } from "./transaction.ts";

const start = new Date("2026-03-01T12:00:00.000Z");
const context = testContext("account", {});
let database: TestDatabase;
let pool: Pool;

const rule = { name: "codes", table: "codes", column: "expires_at", keepMs: hours(1), everyMs: 5 };
const insert = sql("test.insert", "insert into codes (kind, number, expires_at) values ($1, $2, $3)");
const listOf = sql("test.list", "select number from codes where kind = $1 order by number");

before(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, max: 8, applicationName: "retention-test", ...context });
  await pool.query(
    sql("", "create table codes (kind text, number int, expires_at timestamptz not null, primary key (kind, number))"),
  );
});
after(async () => {
  await context.close();
  await database.close();
});

/** Adds one code per age, numbered from 0, all of one kind. */
async function addCodes(kind: string, agesMs: readonly number[]): Promise<void> {
  for (const [number, ageMs] of agesMs.entries())
    await pool.query(insert, [kind, number, new Date(start.getTime() - ageMs)]);
}

const left = async (kind: string) =>
  (await pool.query<{ number: number }>(listOf, [kind])).rows.map(({ number }) => number);

const only = (kind: string): Pick<RetentionRule, "condition" | "values"> => ({
  condition: "kind = $2",
  values: [kind],
});

/** Starts the rules on a separate clock, and stops them with the test. */
function retain(t: { after(end: () => Promise<unknown>): void }, rules: readonly RetentionRule[]) {
  const clock = createManualClock(start);
  const { runner, close } = testContext("account", {});
  t.after(close);
  startRetention({ runner, pool, clock }, rules);
  return clock;
}

it("a row is deleted only when its time is over", async (t) => {
  await addCodes("time", [minutes(61), minutes(60), minutes(59)]);
  const clock = retain(t, [{ ...rule, ...only("time") }]);
  await eventually(async () => assert.deepEqual(await left("time"), [2]));
  clock.advance(minutes(1));
  await eventually(async () => assert.deepEqual(await left("time"), []));
});

it("rows that the condition does not choose stay", async (t) => {
  await addCodes("chosen", [hours(2)]);
  await addCodes("spared", [hours(2)]);
  retain(t, [{ ...rule, ...only("chosen") }]);
  await eventually(async () => assert.deepEqual(await left("chosen"), []));
  assert.deepEqual(await left("spared"), [0]);
});

it("more rows than one statement deletes go without a pause", async (t) => {
  await addCodes(
    "many",
    Array.from({ length: 25 }, () => hours(2)),
  );
  retain(t, [{ ...rule, ...only("many"), batch: 10, everyMs: hours(1) }]);
  await eventually(async () => assert.deepEqual(await left("many"), []));
});

it("rows go in any order where the index gives none", async (t) => {
  await addCodes("unordered", [hours(2), minutes(30), hours(3), hours(4)]);
  retain(t, [{ ...rule, ...only("unordered"), unordered: true, batch: 2 }]);
  await eventually(async () => assert.deepEqual(await left("unordered"), [1]));
});

it("a time that changes counts from the next look on", async (t) => {
  let keepMs = hours(3);
  await addCodes("live", [hours(2)]);
  retain(t, [{ ...rule, ...only("live"), keepMs: () => keepMs }]);
  await addCodes("marker", [hours(2)]);
  retain(t, [{ ...rule, ...only("marker") }]);
  await eventually(async () => assert.deepEqual(await left("marker"), []));
  assert.deepEqual(await left("live"), [0]);
  keepMs = hours(1);
  await eventually(async () => assert.deepEqual(await left("live"), []));
});

it("a locked row is skipped, not waited for", async (t) => {
  await addCodes("held", [hours(3), hours(2)]);
  await inTransaction(pool, async (tx) => {
    await tx.query(sql("", "select 1 from codes where kind = 'held' and number = 0 for update"));
    retain(t, [{ ...rule, ...only("held") }]);
    await eventually(async () => assert.deepEqual(await left("held"), [0]));
  });
  await eventually(async () => assert.deepEqual(await left("held"), []));
});
