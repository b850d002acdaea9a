import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { isUnavailable } from "@signalbox/core";
import { eventually, startEngine, type TestDatabase, testContext, testDatabase } from "@signalbox/testing";
import { isUniqueViolation } from "./errors.ts";
import { openPool, type PoolOptions } from "./pool.ts";
import { sql } from "./prepared-statement.ts";
import { inSession } from "./session.ts";

process.env.TZ = "America/New_York"; // a zone where UTC and local time differ, or the tests of times prove nothing

const context = testContext("account", {});
let database: TestDatabase;
const open = (options: Partial<PoolOptions> = {}) =>
  openPool({ url: database.url, max: 4, applicationName: "pool-test", ...context, ...options });
const one = sql("test.one", "select 1 as one");

before(async () => {
  database = await testDatabase();
});
after(async () => {
  await context.close();
  await database.close();
});

describe("values", () => {
  it("int8 is a bigint, times are UTC, a date and a numeric stay text", async () => {
    const { rows } = await open().query(
      sql(
        "test.values",
        "select 9007199254740993::int8 as big, '2026-03-29 02:30:00'::timestamp as plain, '2026-03-29T02:30:00Z'::timestamptz as zoned, date '2026-03-29' as day, 1.10::numeric as money, '\\x00ff'::bytea as bytes, '{\"a\":1}'::jsonb as json",
      ),
    );
    const time = new Date("2026-03-29T02:30:00Z");
    const bytes = Buffer.from([0, 255]);
    assert.deepEqual(rows, [
      { big: 9007199254740993n, plain: time, zoned: time, day: "2026-03-29", money: "1.10", bytes, json: { a: 1 } },
    ]);
  });

  it("writes times to columns without zone in UTC, now() included, whatever the zone of the process", async () => {
    const pool = open();
    await pool.query(sql("", "create table times (given timestamp(3), stamped timestamp(3) default now())"));
    const given = new Date("2026-07-01T10:00:00.123Z");
    const insert = sql("test.times", "insert into times (given) values ($1) returning given, stamped");
    const { rows } = await pool.query<{ given: Date; stamped: Date }>(insert, [given]);
    assert.deepEqual(rows[0]?.given, given);
    assert.ok(Math.abs((rows[0]?.stamped.getTime() ?? 0) - Date.now()) < 60_000);
  });
});

describe("statements", () => {
  it("a named statement is prepared once for all its uses", async () => {
    const pool = open({ max: 1 });
    await pool.query(one);
    await pool.query(one);
    const { rows } = await pool.query(sql("", "select name from pg_prepared_statements"));
    assert.deepEqual(rows, [{ name: "test.one" }]);
  });

  it("a statement that fails keeps its connection", async () => {
    const pool = open({ max: 1 });
    const pid = sql("test.pid", "select pg_backend_pid() as pid");
    const first = await pool.query(pid);
    await assert.rejects(pool.query(sql("", "select 1/0")), /division by zero/);
    assert.deepEqual((await pool.query(pid)).rows, first.rows);
  });

  it("a unique violation is recognised, by its constraint if asked", async () => {
    const pool = open();
    await pool.query(sql("", "create table once (id int constraint once_id primary key)"));
    const insert = sql("test.once", "insert into once values (1)");
    await pool.query(insert);
    const error = await pool.query(insert).catch((failure: unknown) => failure);
    assert.deepEqual(
      [
        isUniqueViolation(error),
        isUniqueViolation(error, "once_id"),
        isUniqueViolation(error, "another"),
        isUnavailable(error),
      ],
      [true, true, false, false],
    );
  });

  it("a statement name that PostgreSQL would cut off is refused where it is declared", () => {
    assert.throws(() => sql("n".repeat(64), "select 1"), /passes 63 bytes/);
  });
});

describe("bounds", () => {
  const away = { name: "AppError", code: "unavailable" };

  it("refuses a statement at once when too many wait already", async () => {
    const pool = open({ max: 1, waitingMax: 2 });
    const waiting = await inSession(pool, async () => {
      const queued = [pool.query(one), pool.query(one)];
      await assert.rejects(pool.query(one), { ...away, retryAfterSeconds: 1 });
      return { queued };
    });
    await Promise.all(waiting.queued);
    assert.equal((await pool.query(one)).rowCount, 1);
  });

  it("gives up waiting for a connection after the bound", async () => {
    const pool = open({ max: 1, connectTimeoutMs: 2_000 });
    await inSession(pool, () => assert.rejects(pool.query(one), away));
  });

  it("ends a statement that runs too long", async () => {
    await assert.rejects(open({ statementTimeoutMs: 100 }).query(sql("", "select pg_sleep(5)")), away);
  });

  it("says in the metrics how many connections are in use, idle and waited for", async () => {
    const pool = open({ applicationName: "measured" });
    await inSession(pool, async () => {
      await pool.query(one);
      const text = await context.metrics.text();
      assert.match(text, /pool="measured",state="in_use".* 1/);
      assert.match(text, /pool="measured",state="idle".* 1/);
      assert.match(text, /pool="measured",state="waiting".* 0/);
    });
  });

  it("a session is closed after use, so that no lock outlives it", async () => {
    const pool = open();
    const lock = sql("", "select pg_try_advisory_lock(42) as taken");
    assert.equal((await inSession(pool, (session) => session.query<{ taken: boolean }>(lock))).rows[0]?.taken, true);
    await eventually(async () => (await pool.query<{ taken: boolean }>(lock)).rows[0]?.taken === true);
  });
});

describe("a database that goes away", () => {
  it("answers unavailable with Retry-After until it works again by itself", async () => {
    const engine = await startEngine("postgres");
    try {
      const pool = open({ url: engine.url, connectTimeoutMs: 1_000 });
      await eventually(() => pool.query(one).then(() => true));
      const hanging = assert.rejects(pool.query(sql("", "select pg_sleep(30)")), { code: "unavailable" });
      await eventually(() => pool.driver.idleCount === 0);
      await engine.kill();
      await hanging;
      await assert.rejects(pool.query(one), { name: "AppError", code: "unavailable", retryAfterSeconds: 2 });
      assert.match((await pool.health()) ?? "", /does not answer/);
      await engine.restart();
      await eventually(async () => (await pool.query(one)).rowCount === 1);
      assert.equal(await pool.health(), null);
      await pool.close();
    } finally {
      await engine.close();
    }
  });

  it("that accepts without answering: all who ask are refused until it is found again", async () => {
    const engine = await startEngine("postgres");
    try {
      const pool = open({ url: engine.url, max: 1, statementTimeoutMs: 600_000, connectTimeoutMs: 600_000 });
      await eventually(() => pool.query(one).then(() => true));
      await engine.pause();
      const underWay = assert.rejects(pool.query(sql("", "select pg_sleep(0)")), { code: "unavailable" });
      const waiting = assert.rejects(pool.query(one), { code: "unavailable", retryAfterSeconds: 2 });
      await Promise.all([underWay, waiting]);
      assert.match((await pool.health()) ?? "", /cannot reach its database/);
      await engine.resume();
      await eventually(async () => (await pool.query(one)).rowCount === 1);
      await pool.close();
    } finally {
      await engine.close();
    }
  });

  it("is not silent to a process that lacks a processor itself", async () => {
    const engine = await startEngine("postgres");
    try {
      const pool = open({ url: engine.url, max: 1, silence: { quietMs: 50, probeMs: 300 } });
      await eventually(() => pool.query(one).then(() => true));
      await engine.pause();
      let isRefused = false;
      const underWay = assert.rejects(pool.query(one), { code: "unavailable" }).finally(() => {
        isRefused = true;
      });
      for (let burst = 0; burst < 6; burst++) {
        const endMs = performance.now() + 400;
        while (performance.now() < endMs);
        await turn();
      }
      assert.equal(isRefused, false);
      await underWay;
      await engine.resume();
      await pool.close();
    } finally {
      await engine.close();
    }
  });

  it("that answers others is not silent: a long statement lives", async () => {
    const pool = open({ silence: { quietMs: 50, probeMs: 5_000 } });
    const slept = sql("", "select pg_sleep(1.5) is not null as slept");
    assert.deepEqual((await pool.query(slept)).rows, [{ slept: true }]);
  });
});
