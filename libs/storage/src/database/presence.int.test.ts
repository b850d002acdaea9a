import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, type TestDatabase, testContext, testDatabase } from "@signalbox/testing";
import { openPool, type Pool } from "./pool.ts";
import { isGone, startPresence } from "./presence.ts";
import { sql } from "./statement.ts";

const other = testContext("account", {});
let database: TestDatabase;
let pool: Pool;
before(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, max: 2, applicationName: "presence-test", ...other });
});
after(async () => {
  await other.close();
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
