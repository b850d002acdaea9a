import assert from "node:assert/strict";
import { after, before, describe, it, test } from "node:test";
import {
  createTcpProxy,
  eventually,
  startEngine,
  type TcpProxy,
  type TestDatabase,
  testContext,
  testDatabase,
} from "@signalbox/testing";
import { inOneStatement } from "./one-statement.ts";
import { openPool, type Pool } from "./pool.ts";
import { sql, sqlRows } from "./prepared-statement.ts";
import { markColumns, resolveInDoubtCommit, type TransactionMark } from "./resolve-in-doubt-commit.ts";
import { inTransaction } from "./transaction.ts";

const context = testContext("account", {});
let database: TestDatabase;
let proxy: TcpProxy;
/** Connects through the proxy; `direct` does not. */
let pool: Pool;
let direct: Pool;

/** A row whose commit takes a while, and then succeeds or fails. */
const schema = `
  create table slow (name text primary key, is_good boolean not null);
  create function commit_slowly() returns trigger language plpgsql as $$
  begin
    perform pg_sleep(0.5);
    if not new.is_good then raise exception 'the commit fails'; end if;
    return null;
  end $$;
  create constraint trigger slowly after insert on slow deferrable initially deferred
    for each row execute function commit_slowly();`;
const insert = sql("", "insert into slow values ($1, $2)");
const insertAsOne = sqlRows("test.slow", "($1::text, $2::boolean)", (rows) => `insert into slow ${rows}`);
const find = sql("", "select 1 from slow where name = $1");
const committing = sql(
  "",
  "select 1 from pg_stat_activity where datname = current_database() and state = 'active' and wait_event = 'PgSleep'",
);

before(async () => {
  database = await testDatabase();
  proxy = await createTcpProxy({ port: Number(new URL(database.url).port) });
  const open = (url: string, applicationName: string) => openPool({ url, max: 4, applicationName, ...context });
  direct = open(database.url, "direct");
  pool = open(proxy.urlFor(database.url), "behind-proxy");
  for (const statement of schema.split(/;\s*(?=create)/)) await direct.query(sql("", statement));
});
after(async () => {
  await context.close();
  await proxy.close();
  await database.close();
});

const isThere = async (name: string) => (await direct.query(find, [name])).rowCount === 1;
const isCommitting = () => eventually(async () => (await direct.query(committing)).rowCount === 1);

describe("a commit whose answer is lost", () => {
  it("succeeded: the caller gets its result and its hooks run", async () => {
    let hooks = 0;
    const work = inTransaction(pool, async (tx) => {
      await tx.query(insert, ["kept", true]);
      tx.afterCommit(() => hooks++);
      return "result";
    });
    await isCommitting();
    proxy.cut();
    assert.equal(await work, "result");
    assert.deepEqual([hooks, await isThere("kept")], [1, true]);
  });

  it("failed: nothing is there, so the caller may try again", async () => {
    const work = inTransaction(pool, (tx) => tx.query(insert, ["undone", false]));
    const refused = assert.rejects(work, { code: "unavailable", outcome: undefined });
    await isCommitting();
    proxy.cut();
    await refused;
    assert.equal(await isThere("undone"), false);
  });

  it("cannot be asked about: the caller hears that the outcome is unknown", async () => {
    const work = inTransaction(pool, (tx) => tx.query(insert, ["unknown", true]));
    const refused = assert.rejects(work, { code: "unavailable", outcome: "unknown" });
    await isCommitting();
    await proxy.refuse();
    await refused;
    await proxy.accept();
  });

  it("of a single statement: the outcome is unknown", async () => {
    const work = inOneStatement(pool, (tx) => tx.query(insertAsOne, ["single", true]));
    const refused = assert.rejects(work, { code: "unavailable", outcome: "unknown" });
    await isCommitting();
    proxy.cut();
    await refused;
  });

  it("of a statement that was never sent: nothing happened, so the caller may try again", async () => {
    proxy.cut();
    proxy.pause();
    const work = inOneStatement(pool, (tx) => tx.query(insertAsOne, ["unsent", true]));
    const refused = assert.rejects(work, { code: "unavailable", outcome: undefined });
    await eventually(() => proxy.connections > 0);
    proxy.cut();
    await refused;
    proxy.resume();
    assert.equal(await isThere("unsent"), false);
  });
});

test("after a crash the server is not believed: it gives ids again that were never flushed", async () => {
  const engine = await startEngine("postgres");
  const own = testContext("account", {});
  const crashing = openPool({ url: engine.url, max: 2, applicationName: "crashing", ...own });
  try {
    await crashing.query(sql("", "create table kept (id int)"));
    const client = await crashing.driver.connect();
    await client.query("begin");
    const { rows } = await client.query(`select ${markColumns}, pg_backend_pid() as pid`);
    const { pid, ...mark } = rows[0] as TransactionMark & { pid: number };
    process.kill(pid, "SIGKILL");
    client.release(true);
    // The server may end the other connections a moment after one of them has answered.
    const insert = () => crashing.query(sql("", "insert into kept values (1)")).then(() => true);
    for (let count = 0; count < 3; count++) await eventually(insert);
    assert.equal(await resolveInDoubtCommit(crashing, mark), "unknown");
  } finally {
    await own.close();
    await engine.close();
  }
});
