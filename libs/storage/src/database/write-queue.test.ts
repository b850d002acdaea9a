import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "@signalbox/core";
import { type Queryable, type Statement, sql, sqlRows } from "./statement.ts";
import { createWriteQueue } from "./write-queue.ts";

const addNote = sqlRows("note.add", "($1, $2)", (tuples) => `insert into notes values ${tuples} returning id`);
const dropNote = sql("note.drop", "delete from notes where id = $1");
const note = (id: number) => [{ statement: addNote, values: [id, `note ${id}`] }];
const drop = (id: number) => [{ statement: dropNote, values: [id] }];
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

/** A database that answers each note with its id, after `before` has had a look at the statement. */
function database(before: (values: readonly unknown[], statement: Statement) => unknown = () => {}) {
  const sent: (readonly unknown[])[] = [];
  const queryable: Queryable = {
    async query(statement, values = []) {
      sent.push(values);
      await before(values, statement);
      const part = values.filter((value) => typeof value === "number").map((id) => ({ id }));
      return { rows: [{ part_0: part }] as never[], rowCount: 1 };
    },
  };
  return { sent, queue: createWriteQueue(queryable, 24) };
}
const rowsOf = (count: number, sent: readonly (readonly unknown[])[]) =>
  sent.map((values) => values.length / 2).filter((rows) => rows === count).length;

test("what is asked for in one turn shares statements, and each gets its own rows", async () => {
  const { queue, sent } = database();
  const answers = await Promise.all(upTo(20).map((id) => queue.add(note(id))));
  assert.deepEqual(
    answers.map(([notes]) => notes?.rows),
    upTo(20).map((id) => [{ id }]),
  );
  assert.deepEqual([sent.length, rowsOf(16, sent), rowsOf(4, sent)], [2, 1, 1]);
});

test("what arrives while a batch is under way goes together afterwards", async () => {
  const gate = Promise.withResolvers<void>();
  const { queue, sent } = database(() => gate.promise);
  const first = [queue.add(note(1)), queue.add(note(2))];
  await new Promise(setImmediate);
  const later = upTo(8).map((id) => queue.add(note(id)));
  await new Promise(setImmediate);
  assert.equal(sent.length, 1);
  gate.resolve();
  await Promise.all([...first, ...later]);
  assert.deepEqual([sent.length, rowsOf(8, sent)], [2, 1]);
});

test("writes of another shape, or of statements that cannot be had for many rows, go by themselves", async () => {
  const { queue, sent } = database();
  const two = [{ statement: addNote.ofRows(2), values: [7, "a", 8, "b"] }];
  await Promise.all([queue.add(note(1)), queue.add(drop(2)), queue.add(two), queue.add(note(3)), queue.add(drop(4))]);
  assert.deepEqual(
    sent.map((values) => values.filter((value) => typeof value === "number")),
    [[1, 3], [2], [7, 8], [4]],
  );
});

test("a batch in which one is wrong is sent again one by one", async () => {
  const { queue, sent } = database((values) => {
    if (values.includes(3)) throw Object.assign(new Error("no such note"), { code: "23503" });
  });
  const settled = await Promise.allSettled(upTo(8).map((id) => queue.add(note(id))));
  assert.deepEqual(
    settled.map(({ status }) => status === "fulfilled"),
    upTo(8).map((id) => id !== 3),
  );
  assert.deepEqual([sent.length, rowsOf(1, sent)], [9, 8]);
});

for (const failure of [new AppError("unavailable", "away"), new TypeError("no such row in the answer")]) {
  test(`after "${failure.message}" nothing is sent again: nobody knows what was written`, async () => {
    const { queue, sent } = database(() => {
      throw failure;
    });
    const settled = await Promise.allSettled(upTo(4).map((id) => queue.add(note(id))));
    assert.ok(settled.every((one) => one.status === "rejected" && one.reason === failure));
    assert.equal(sent.length, 1);
  });
}

test("batches that wait for somebody's row do not keep the others for long", async () => {
  const gate = Promise.withResolvers<void>();
  const { queue } = database((values) => (values.includes(1) || values.includes(2) ? gate.promise : null));
  const stuck = [queue.add(drop(1)), queue.add(drop(2))];
  await Promise.all(upTo(4).map((id) => queue.add(note(id + 10))));
  gate.resolve();
  await Promise.all(stuck);
});

test("more than may wait is refused at once", async () => {
  const { queue } = database();
  const settled = await Promise.allSettled(upTo(30).map((id) => queue.add(note(id))));
  const refused = settled.filter(({ status }) => status === "rejected");
  assert.deepEqual([refused.length, (refused[0] as PromiseRejectedResult).reason.code], [6, "unavailable"]);
});
