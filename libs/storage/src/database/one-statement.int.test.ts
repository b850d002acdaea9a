import assert from "node:assert/strict";
import { after, before, beforeEach, it } from "node:test";
import { AppError } from "@signalbox/core";
import { type TestDatabase, testContext, testDatabase } from "@signalbox/testing";
import { inOneStatement } from "./one-statement.ts";
import { openPool, type Pool } from "./pool.ts";
import { changedRows, sql, sqlRows } from "./prepared-statement.ts";
import { inTransaction } from "./transaction.ts";

const context = testContext("account", {});
let database: TestDatabase;
let pool: Pool;
const clear = sql("test.clear", "truncate items, notes");
const addItem = sqlRows("test.add-item", "($1::int, $2::int)", (rows) => `insert into items (id, amount) ${rows}`);
const dropItem = sql("test.drop-item", "delete from items where id = $1");
const addNote = sql("test.add-note", "insert into notes (text) values ($1) returning id::int, length(text) as length");
const setItem = changedRows(
  "test.set-item",
  "($1::int, $2::int, $3::int)",
  { table: "items", names: ["id", "new", "old"], keyWidth: 1, condition: "items.amount = given.old" },
  "amount = given.new",
);
const noteItem = sqlRows("test.note-item", "($1::text)", (rows) => `insert into notes (text) ${rows} returning text`);
const counts = sql(
  "test.counts",
  "select (select count(*)::int from items) items, (select count(*)::int from notes) notes",
);
const commits = sql("test.commits", "select count(distinct xmin::text)::int as commits from items");
const counted = async () => (await pool.query(counts)).rows[0];

before(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, max: 8, applicationName: "one-statement-test", ...context });
  await pool.query(sql("", "create table items (id int primary key, amount int not null)"));
  await pool.query(sql("", "create table notes (id int generated always as identity, text text not null)"));
});
beforeEach(() => pool.query(clear));
after(async () => {
  await context.close();
  await database.close();
});

it("writes all parts at once, with what they return only after the commit", async () => {
  const seen: unknown[] = [];
  const written = await inOneStatement(pool, async (tx) => {
    const added = await tx.query(addItem, [1, 10]);
    const { rows } = await tx.query(noteItem, ["hello"]);
    tx.afterCommit(() => seen.push(...rows));
    return [added.rowCount, rows.length];
  });
  assert.deepEqual([written, seen], [{ result: [1, 0] }, [{ text: "hello" }]]);
  assert.deepEqual(await counted(), { items: 1, notes: 1 });
});

it("when a row is not as it was read nothing is written, without a hook", async () => {
  await pool.query(addItem, [1, 10]);
  const hooks: string[] = [];
  const written = await inOneStatement(pool, async (tx) => {
    await tx.query(setItem, [1, 11, 9]);
    tx.afterCommit(() => hooks.push("committed"));
    await tx.query(noteItem, ["never"]);
  });
  assert.deepEqual([written, hooks], [null, []]);
  assert.deepEqual(await counted(), { items: 1, notes: 0 });
});

it("work that has to read, or to write in another way, writes nothing, so that it can begin again in a transaction", async () => {
  const more = [
    { statement: counts, values: [] },
    { statement: addNote, values: ["never"] },
    { statement: dropItem, values: [1] },
  ];
  for (const { statement, values } of more) {
    const written = await inOneStatement(pool, async (tx) => {
      await tx.query(addItem, [1, 10]);
      await tx.query(statement, values);
    });
    assert.equal(written, null);
  }
  assert.deepEqual(await counted(), { items: 0, notes: 0 });
});

it("work that writes nothing sends nothing, yet returns its result", async () => {
  assert.deepEqual(await inOneStatement(pool, async () => "unchanged"), { result: "unchanged" });
});

it("a part that fails undoes them all with its error", async () => {
  await pool.query(addItem, [1, 10]);
  const twice = inOneStatement(pool, async (tx) => {
    await tx.query(noteItem, ["never"]);
    await tx.query(addItem, [1, 10]);
  });
  await assert.rejects(twice, { code: "23505" });
  assert.deepEqual(await counted(), { items: 1, notes: 0 });
});

it("what the work throws arrives as it is, with nothing sent", async () => {
  const refused = inOneStatement(pool, async (tx) => {
    await tx.query(addItem, [1, 10]);
    throw new AppError("conflict", "not today");
  });
  await assert.rejects(refused, { code: "conflict" });
  assert.deepEqual(await counted(), { items: 0, notes: 0 });
});

it("of writers that saw the same row one wins, however many there are", async () => {
  await pool.query(addItem, [1, 0]);
  const attempt = () =>
    inOneStatement(pool, async (tx) => {
      await tx.query(setItem, [1, 1, 0]);
      await tx.query(noteItem, ["won"]);
    });
  const won = (await Promise.all(Array.from({ length: 20 }, attempt))).filter(Boolean);
  assert.equal(won.length, 1);
  assert.deepEqual(await counted(), { items: 1, notes: 1 });
});

it("concurrent transactions share statements and commits, yet fail alone", async () => {
  const ids = Array.from({ length: 64 }, (_, index) => index);
  await Promise.all(ids.map((id) => pool.query(addItem, [id, 0])));
  const move = async (id: number, from: number) => {
    const notes: unknown[] = [];
    const written = await inOneStatement(pool, async (tx) => {
      await tx.query(setItem, [id, from + 1, from]);
      const { rows } = await tx.query(noteItem, [`item ${id}`]);
      tx.afterCommit(() => notes.push(...rows));
    });
    return { written: written !== null, notes };
  };
  assert.deepEqual(
    await Promise.all(ids.map((id) => move(id, 0))),
    ids.map((id) => ({ written: true, notes: [{ text: `item ${id}` }] })),
  );
  const { rows } = await pool.query<{ commits: number }>(commits);
  assert.ok((rows[0]?.commits ?? 64) <= 8, `${rows[0]?.commits} commits`);

  const again = await Promise.all(ids.map((id) => move(id, id === 13 ? 0 : 1)));
  assert.deepEqual(
    again.map(({ written }) => written),
    ids.map((id) => id !== 13),
  );
  const crossing = await Promise.allSettled([move(1, 2), move(2, 2), move(3, 2 ** 31)]);
  assert.deepEqual(
    crossing.map(({ status }) => status),
    ["fulfilled", "fulfilled", "rejected"],
  );
  assert.deepEqual(await counted(), { items: 64, notes: 64 + 63 + 2 });
});

it("of writers that saw the same row one wins, though they go together", async () => {
  await pool.query(addItem, [1, 0]);
  const attempt = () =>
    inOneStatement(pool, async (tx) => {
      await tx.query(setItem, [1, 1, 0]);
      await tx.query(noteItem, ["won"]);
    });
  const won = (await Promise.all(Array.from({ length: 20 }, attempt))).filter(Boolean);
  assert.equal(won.length, 1);
  assert.deepEqual(await counted(), { items: 1, notes: 1 });
});

it("only the writer of a locked row is refused, at once", async () => {
  const ids = Array.from({ length: 8 }, (_, index) => index);
  await Promise.all(ids.map((id) => pool.query(addItem, [id, 0])));
  const move = (id: number) =>
    inOneStatement(pool, async (tx) => {
      await tx.query(setItem, [id, 1, 0]);
      await tx.query(noteItem, [`item ${id}`]);
    });
  await inTransaction(pool, async (tx) => {
    await tx.query(sql("", "select from items where id = 3 for update"));
    const written = await Promise.all(ids.map(move));
    assert.deepEqual(
      written.map((one) => one !== null),
      ids.map((id) => id !== 3),
    );
  });
  assert.deepEqual(await counted(), { items: 8, notes: 7 });
});

it("a transaction that changes one row twice writes nothing, so that it can begin again", async () => {
  await pool.query(addItem, [1, 0]);
  const written = await inOneStatement(pool, async (tx) => {
    await tx.query(setItem, [1, 1, 0]);
    await tx.query(setItem.ofRows(2), [1, 2, 0, 1, 3, 0]);
  });
  assert.equal(written, null);
});
