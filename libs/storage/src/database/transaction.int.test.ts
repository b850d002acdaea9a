import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { type TestDatabase, testContext, testDatabase } from "@signalbox/testing";
import { openPool, type Pool } from "./pool.ts";
import { sql } from "./prepared-statement.ts";
import { inTransaction, type Tx } from "./transaction.ts";

const context = testContext("account", {});
let database: TestDatabase;
let pool: Pool;
const add = sql("test.add", "insert into items (id, amount) values ($1, 0)");
const increase = sql("test.increase", "update items set amount = amount + 1 where id = $1 returning amount");
const read = sql("test.read", "select amount from items where id = $1");
const amountOf = async (id: number) => (await pool.query<{ amount: number }>(read, [id])).rows[0]?.amount;

before(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, max: 8, applicationName: "transaction-test", ...context });
  await pool.query(sql("", "create table items (id int primary key, amount int not null)"));
});
after(async () => {
  await context.close();
  await database.close();
});

it("commits what the work did before it returns its result", async () => {
  const result = await inTransaction(pool, async (tx) => {
    await tx.query(add, [1]);
    return "done";
  });
  assert.deepEqual([result, await amountOf(1)], ["done", 0]);
});

it("rolls back when work throws, handing on what it threw", async () => {
  const failure = new Error("no");
  await assert.rejects(
    inTransaction(pool, async (tx) => {
      await tx.query(add, [2]);
      throw failure;
    }),
    failure,
  );
  assert.equal(await amountOf(2), undefined);
});

it("does not report success when work swallowed the error of a statement", async () => {
  const swallowing = inTransaction(pool, async (tx) => {
    await tx.query(add, [3]);
    await tx.query(sql("", "select 1/0")).catch(() => {});
  });
  await assert.rejects(swallowing, /rolled back/);
  assert.equal(await amountOf(3), undefined);
});

it("runs afterCommit hooks in order, only once the commit is visible", async () => {
  const seen: string[] = [];
  await inTransaction(pool, async (tx) => {
    tx.afterCommit(() => seen.push("first"));
    tx.afterCommit(() => seen.push("second"));
    await tx.query(add, [4]);
    assert.deepEqual(seen, []);
  });
  await inTransaction(pool, async (tx) => {
    tx.afterCommit(() => seen.push("rolled back"));
    throw new Error("no");
  }).catch(() => {});
  assert.deepEqual(seen, ["first", "second"]);
});

it("a hook that fails does not fail the caller: the commit has happened", async () => {
  await inTransaction(pool, async (tx) => {
    tx.afterCommit(() => {
      throw new Error("broken hook");
    });
  });
  assert.ok(context.logged.some((line) => /hook failed/.test(String(line.msg))));
});

it("repeats work that lost a deadlock, until both sides have committed", async () => {
  await inTransaction(pool, async (tx) => {
    await tx.query(add, [10]);
    await tx.query(add, [11]);
  });
  const arrived = meeting(2);
  const winner = Promise.withResolvers<void>();
  let runs = 0;
  const both = async (first: number, second: number) => {
    await inTransaction(pool, async (tx) => {
      // A loser that is faster than the winner wakes would meet it a second time.
      if (++runs > 2) await winner.promise;
      await tx.query(increase, [first]);
      await arrived();
      await tx.query(increase, [second]);
    });
    winner.resolve();
  };
  await Promise.all([both(10, 11), both(11, 10)]);
  assert.deepEqual([await amountOf(10), await amountOf(11), runs], [2, 2, 3]);
});

it("counts right under serializable isolation with colliding writers", async () => {
  await inTransaction(pool, (tx) => tx.query(add, [20]));
  const arrived = meeting(2);
  const readThenWrite = async (tx: Tx) => {
    const { rows } = await tx.query<{ amount: number }>(read, [20]);
    await arrived();
    await tx.query(sql("test.set", "update items set amount = $2 where id = $1"), [20, (rows[0]?.amount ?? 0) + 1]);
  };
  const options = { isolation: "serializable" } as const;
  await Promise.all([inTransaction(pool, readThenWrite, options), inTransaction(pool, readThenWrite, options)]);
  assert.equal(await amountOf(20), 2);
});

it("gives up after the attempts it may make, as unavailable", async () => {
  let runs = 0;
  const losing = inTransaction(
    pool,
    async (tx) => {
      runs++;
      await tx.query(sql("", "do $$ begin raise exception 'lost' using errcode = '40001'; end $$"));
    },
    { attemptsMax: 2 },
  );
  await assert.rejects(losing, { name: "AppError", code: "unavailable" });
  assert.equal(runs, 2);
});

it("a connection that breaks midway rolls back as unavailable, leaving a pool that works", async () => {
  const broken = inTransaction(pool, async (tx) => {
    await tx.query(add, [30]);
    await tx.query(sql("", "select pg_terminate_backend(pg_backend_pid())"));
  });
  await assert.rejects(broken, { name: "AppError", code: "unavailable" });
  assert.equal(await amountOf(30), undefined);
});

it("refuses a statement after the end of its transaction", async () => {
  const escaped = await inTransaction(pool, async (tx) => tx);
  assert.throws(() => escaped.query(add, [40]), /after its transaction had ended/);
});

/** Resolves for all once `parties` have arrived; later calls pass. */
function meeting(parties: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let come = 0;
  return () => {
    come++;
    if (come >= parties) resolve();
    return promise;
  };
}
