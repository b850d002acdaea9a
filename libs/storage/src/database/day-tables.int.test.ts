import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createManualClock } from "@signalbox/core";
import { type TestDatabase, testContext, testDatabase } from "@signalbox/testing";
import { createDayTables, dayMs, tableOfDay } from "./day-tables.ts";
import { openPool, type Pool } from "./pool.ts";
import { sql } from "./prepared-statement.ts";
import { inTransaction } from "./transaction.ts";

const today = Date.parse("2026-03-02T00:00:00.000Z");
const context = testContext("account", {});
let database: TestDatabase;
let pool: Pool;

before(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, max: 8, applicationName: "day-tables-test", ...context });
  await pool.query(sql("", "create schema if not exists signalbox"));
});
after(async () => {
  await context.close();
  await database.close();
});

/** A table of visits partitioned by days, kept for two days by a clock that stands at noon. */
async function visits(name: string) {
  const table = { name, column: "at" };
  const clock = createManualClock(new Date(today + dayMs / 2));
  await pool.query(
    sql("", `create table ${name} (id int, at timestamptz, primary key (at, id)) partition by range (at)`),
  );
  await pool.query(sql("", `create table signalbox.${name}_default partition of ${name} default`));
  const insert = sql("", `insert into ${name} values ($1, $2)`);
  const where = sql("", `select id, tableoid::regclass::text as place from ${name} order by id`);
  return {
    table,
    clock,
    dayTables: createDayTables({ pool, clock, keepMs: () => 2 * dayMs }, [table]),
    add: (id: number, ms: number) => pool.query(insert, [id, new Date(ms)]),
    /** The table of each row. */
    async places(): Promise<Record<number, string>> {
      const { rows } = await pool.query<{ id: number; place: string }>(where);
      return Object.fromEntries(rows.map(({ id, place }) => [id, place]));
    },
  };
}

test("a row lies in the table of its day, made up to a week ahead", async () => {
  const { table, dayTables, add, places } = await visits("ahead");
  await dayTables.keep();
  await add(1, today);
  await add(2, today + 8 * dayMs - 1);
  await add(3, today + 8 * dayMs);
  assert.deepEqual(await places(), {
    1: tableOfDay(table, today),
    2: tableOfDay(table, today + 7 * dayMs),
    3: "signalbox.ahead_default",
  });
});

test("a row that came before the table of its day moves into it", async () => {
  const { table, dayTables, add, places } = await visits("strays");
  await add(1, today - dayMs);
  await add(2, today + 90 * dayMs);
  assert.deepEqual(await places(), { 1: "signalbox.strays_default", 2: "signalbox.strays_default" });
  await dayTables.keep();
  assert.deepEqual(await places(), { 1: tableOfDay(table, today - dayMs), 2: tableOfDay(table, today + 90 * dayMs) });
});

test("a day's table goes only once its last row is past the retention", async () => {
  const { clock, dayTables, add, places } = await visits("past");
  await dayTables.keep();
  await add(1, today);
  clock.advance(dayMs * 2.5 - 1);
  await dayTables.keep();
  assert.deepEqual(Object.keys(await places()), ["1"]);
  clock.advance(1);
  await dayTables.keep();
  assert.deepEqual(await places(), {});
});

test("rows without a table that are past the retention go as well", async () => {
  const { dayTables, add, places } = await visits("old");
  await add(1, today - 30 * dayMs);
  await dayTables.keep();
  assert.deepEqual(await places(), {});
});

test("of instances at the same moment only one makes or drops a table", async () => {
  const { table, dayTables, add, places } = await visits("instances");
  await add(1, today);
  await Promise.all([dayTables.keep(), dayTables.keep(), dayTables.keep()]);
  await dayTables.keep();
  assert.equal((await dayTables.days(table)).length, 8);
  assert.deepEqual(await places(), { 1: tableOfDay(table, today) });
  const lock = sql("", "select pg_advisory_xact_lock(hashtextextended('days of instances', 0))");
  await inTransaction(pool, async (tx) => {
    await tx.query(lock);
    assert.equal(await dayTables.drop(table, today), false);
  });
  assert.equal(await dayTables.drop(table, today), true);
});

test("tables are made while others write; dropping one gives way to its writers", async () => {
  const { table, dayTables, add } = await visits("busy");
  await dayTables.make(table, today);
  await inTransaction(pool, async (tx) => {
    await tx.query(sql("", "insert into busy values (1, $1)"), [new Date(today)]);
    await dayTables.keep();
    await assert.rejects(dayTables.drop(table, today), { code: "unavailable" });
  });
  await add(2, today);
  assert.equal(await dayTables.drop(table, today), true);
});
