import assert from "node:assert/strict";
import { after, before, beforeEach, it } from "node:test";
import { type TestDatabase, testContext, testDatabase } from "@signalbox/testing";
import { inOneStatement } from "./one-statement.ts";
import { openPool, type Pool } from "./pool.ts";
import { sql, sqlRows } from "./statement.ts";
import type { Tx } from "./transaction.ts";

const context = testContext("account", {});
let database: TestDatabase;
let pool: Pool;
const clear = sql("test.clear", "truncate items, notes");
const addItem = sql("test.add-item", "insert into items (id, amount) values ($1, $2)");
const changeItem = sql("test.change-item", "update items set amount = $2 where id = $1 and amount = $3");
const addNote = sql("test.add-note", "insert into notes (text) values ($1) returning id::int, length(text) as length");
const setItem = sqlRows(
  "test.set-item",
  "($1::int, $2::int, $3::int)",
  (tuples) => `update items set amount = new from (values ${tuples}) as given (item, new, old)
    where id = item and amount = old`,
);
const noteItem = sqlRows(
  "test.note-item",
  "($1)",
  (tuples) => `insert into notes (text) values ${tuples} returning text`,
);
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

it("writes all parts at once, and each is answered with what it returns", async () => {
  let note: unknown;
  const hooks: string[] = [];
  const written = await inOneStatement(pool, [
    (tx) => tx.query(addItem, [1, 10]),
    async (tx) => {
      tx.afterCommit(() => hooks.push("committed"));
      note = (await tx.query(addNote, ["hello"])).rows[0];
    },
  ]);
  assert.deepEqual([written, hooks, (note as { length: number }).length], [true, ["committed"], 5]);
  assert.deepEqual(await counted(), { items: 1, notes: 1 });
});

it("a part that touches no row undoes them all, without a hook", async () => {
  await pool.query(addItem, [1, 10]);
  const hooks: string[] = [];
  const written = await inOneStatement(pool, [
    (tx) => tx.query(changeItem, [1, 11, 9]),
    async (tx) => {
      tx.afterCommit(() => hooks.push("committed"));
      await tx.query(addNote, ["never"]);
    },
  ]);
  assert.deepEqual([written, hooks], [false, []]);
  assert.deepEqual(await counted(), { items: 1, notes: 0 });
});

it("a part that fails undoes them all, and its error arrives", async () => {
  await pool.query(addItem, [1, 10]);
  const twice = inOneStatement(pool, [(tx) => tx.query(addNote, ["never"]), (tx) => tx.query(addItem, [1, 10])]);
  await assert.rejects(twice, { code: "23505" });
  assert.deepEqual(await counted(), { items: 1, notes: 0 });
});

it("of writers that saw the same row one wins, however many there are", async () => {
  await pool.query(addItem, [1, 0]);
  const attempt = () =>
    inOneStatement(pool, [(tx: Tx) => tx.query(changeItem, [1, 1, 0]), (tx: Tx) => tx.query(addNote, ["won"])]);
  const won = (await Promise.all(Array.from({ length: 20 }, attempt))).filter(Boolean);
  assert.equal(won.length, 1);
  assert.deepEqual(await counted(), { items: 1, notes: 1 });
});

it("many at once share statements and commits, and whoever is wrong among them fails alone", async () => {
  const ids = Array.from({ length: 64 }, (_, index) => index);
  await Promise.all(ids.map((id) => pool.query(addItem, [id, 0])));
  const move = async (id: number, from: number) => {
    const notes: unknown[] = [];
    const written = await inOneStatement(pool, [
      (tx) => tx.query(setItem, [id, from + 1, from]),
      async (tx) => void notes.push(...(await tx.query(noteItem, [`item ${id}`])).rows),
    ]);
    return { written, notes };
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
    inOneStatement(pool, [(tx: Tx) => tx.query(setItem, [1, 1, 0]), (tx: Tx) => tx.query(noteItem, ["won"])]);
  const won = (await Promise.all(Array.from({ length: 20 }, attempt))).filter(Boolean);
  assert.equal(won.length, 1);
  assert.deepEqual(await counted(), { items: 1, notes: 1 });
});
