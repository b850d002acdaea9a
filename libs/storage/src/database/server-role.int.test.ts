import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import {
  createTcpProxy,
  eventually,
  type OwnEngine,
  startEngine,
  type TcpProxy,
  testContext,
} from "@signalbox/testing";
import pg from "pg";
import { openPool, type Pool } from "./pool.ts";
import { sql } from "./prepared-statement.ts";
import { inSession } from "./session.ts";
import { inTransaction } from "./transaction.ts";

const context = testContext("account", {});
const insert = sql("role.insert", "insert into entries values (1)");
const read = sql("role.read", "select count(*)::int as entries, inet_server_port() as port from entries");

/** Two servers under one address, of which the second takes over. */
describe("a switchover to another server", () => {
  let former: OwnEngine;
  let next: OwnEngine;
  let proxy: TcpProxy;
  let pool: Pool;
  const target = { port: 0 };
  const portOf = ({ url }: OwnEngine) => Number(new URL(url).port);
  /** The same credentials lead to both. */
  const urlOf = (engine: OwnEngine) => Object.assign(new URL(former.url), { port: portOf(engine), search: "" }).href;
  const switchOver = () => {
    target.port = portOf(next);
  };

  before(async () => {
    [former, next] = await Promise.all([startEngine("postgres"), startEngine("postgres")]);
    const { password } = new URL(former.url);
    await run(next, `alter role signalbox password '${password}'`);
    for (const engine of [former, { url: urlOf(next) }]) await run(engine, "create table entries (id int)");
    proxy = await createTcpProxy(target);
  });
  beforeEach(async () => {
    target.port = portOf(former);
    await setReadOnly(former, false);
    await pool?.close();
    pool = openPool({ url: proxy.urlFor(former.url), max: 4, applicationName: "switched", ...context });
    // Each of them is open, and idle, when the server is demoted.
    await Promise.all([1, 2, 3, 4].map(() => inTransaction(pool, (tx) => tx.query(insert))));
  });
  after(async () => {
    await context.close();
    await proxy.close();
    await Promise.all([former.close(), next.close()]);
  });

  for (const [what, write] of [
    ["statements", () => pool.query(insert)],
    ["transactions", () => inTransaction(pool, (tx) => tx.query(insert))],
  ] as const) {
    it(`leaves no connection on which ${what} are refused`, async () => {
      await setReadOnly(former, true);
      await eventually(() => write().then(never, ({ code }) => code === "unavailable"));
      switchOver();
      await eventually(() =>
        write().then(
          () => true,
          () => false,
        ),
      );
      await Promise.all(Array.from({ length: 20 }, write));
    });
  }

  it("is noticed by a service that only reads", async () => {
    await setReadOnly(former, true);
    switchOver();
    await eventually(async () => (await pool.query<{ port: number }>(read)).rows[0]?.port === portOf(next));
  });

  it("turns the service unready until the first writable connection", async () => {
    assert.equal(await pool.health(), null);
    await setReadOnly(former, true);
    assert.match((await pool.health()) ?? "", /accepts no writes/);
    switchOver();
    await eventually(async () => (await pool.health()) === null);
  });

  it("leaves reads of a read-only server to it while there is no other", async () => {
    await setReadOnly(former, true);
    assert.equal((await pool.query<{ port: number }>(read)).rows[0]?.port, portOf(former));
    assert.notEqual(await pool.health(), null);
    assert.equal((await pool.query<{ port: number }>(read)).rows[0]?.port, portOf(former));
  });

  it("ends a session whose notifications would come from another server", async () => {
    await inSession(pool, async (session) => {
      await setReadOnly(former, true);
      switchOver();
      await eventually(() => session.lost.aborted);
    });
    const found = await inSession(pool, (session) => session.query<{ port: number }>(read));
    assert.equal(found.rows[0]?.port, portOf(next));
  });

  it("refuses a session on a read-only server", async () => {
    await setReadOnly(former, true);
    await assert.rejects(
      inSession(pool, async () => {}),
      { code: "unavailable" },
    );
  });
});

/** Works on established connections too, as the demotion of a server does. */
async function setReadOnly(engine: OwnEngine, isReadOnly: boolean): Promise<void> {
  await run(engine, `alter system set default_transaction_read_only = ${isReadOnly ? "on" : "off"}`);
  await run(engine, "select pg_reload_conf()");
  await eventually(async () => {
    const { rows } = await run(engine, "show default_transaction_read_only");
    return rows[0]?.default_transaction_read_only === (isReadOnly ? "on" : "off");
  });
}

const never = () => false;

async function run(engine: { readonly url: string }, text: string) {
  const client = new pg.Client({ connectionString: engine.url });
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}
