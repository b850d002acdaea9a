import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "@signalbox/core";
import { changedRows, type Queryable, sqlRows } from "./prepared-statement.ts";
import { createTransactionGate } from "./transaction-gate.ts";
import { createWriteQueue } from "./write-queue.ts";

const addNote = sqlRows("note.add", "($1, $2)", (rows) => `insert into notes ${rows} returning id`);
const held = { table: "notes", names: ["id", "text"], keyWidth: 1, condition: "true" };
const setNote = changedRows("note.set", "($1, $2)", held, "text = given.text");
const note = (id: number) => [{ statement: addNote, values: [id, `note ${id}`] }];
const set = (id: number) => [{ statement: setNote, values: [id, `note ${id}`] }];
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);
const idsOf = (values: readonly unknown[]) => values.filter((value) => typeof value === "number");

/**
 * A database that answers each note with its id, after `before` has seen the statement. `taken` are the notes that
 * another transaction has locked.
 */
function database(before: (values: readonly unknown[]) => unknown = () => {}, taken: readonly number[] = []) {
  const sent: (readonly unknown[])[] = [];
  const queryable: Queryable = {
    async query(_, values = []) {
      sent.push(values);
      await before(values);
      const ids = idsOf(values);
      const held = upTo(ids.length).filter((row) => !taken.includes(ids[row] ?? 0));
      const rows = [{ part_0: ids.map((id) => ({ id })), held_0: held, all_held: held.length === ids.length }];
      return { rows: rows as never[], rowCount: 1 };
    },
  };
  return { sent, queue: createWriteQueue(queryable, 24) };
}
const rowsOf = (count: number, sent: readonly (readonly unknown[])[]) =>
  sent.map((values) => values.length / 2).filter((rows) => rows === count).length;

test("requests of one turn share statements yet get their own rows", async () => {
  const { queue, sent } = database();
  const answers = await Promise.all(upTo(20).map((id) => queue.add(note(id))));
  assert.deepEqual(
    answers.map((notes) => notes?.[0]?.rows),
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

test("writes of another shape, or of too many rows, go by themselves", async () => {
  const { queue, sent } = database();
  const two = [{ statement: addNote.ofRows(2), values: [7, "a", 8, "b"] }];
  const many = [{ statement: addNote.ofRows(33), values: upTo(33).flatMap((id) => [100 + id, "many"]) }];
  const all = [note(1), set(2), many, two, note(3), many, set(4)];
  await Promise.all(all.map((parts) => queue.add(parts)));
  assert.deepEqual(
    sent.map((values) => idsOf(values).slice(0, 2)),
    [
      [1, 3],
      [2, 4],
      [100, 101],
      [7, 8],
      [100, 101],
    ],
  );
});

test("two writes of one row never share a statement", async () => {
  const { queue, sent } = database();
  await Promise.all([set(1), set(2), set(1), set(3), set(1), set(4)].map((parts) => queue.add(parts)));
  assert.deepEqual(sent.map(idsOf), [[1, 2, 3, 4], [1], [1]]);
});

test("a write of a locked row is refused at once while the rest of its batch is sent again", async () => {
  const { queue, sent } = database(() => {}, [2, 5]);
  const answers = await Promise.all(upTo(8).map((id) => queue.add(set(id))));
  assert.deepEqual(
    answers.map((answer) => answer?.[0]?.rows ?? null),
    upTo(8).map((id) => (id === 2 || id === 5 ? null : [{ id }])),
  );
  assert.deepEqual(sent.map(idsOf), [upTo(8), [0, 1, 3, 4], [6, 7]]);
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

test("a batch that takes long does not keep the others for long", async () => {
  const gate = Promise.withResolvers<void>();
  const { queue } = database((values) => (values.includes(1) || values.includes(2) ? gate.promise : null));
  const stuck = [queue.add(set(1)), queue.add(set(2))];
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

const roomy = { max: 8, waitingMax: 4, waitMs: 60_000 };
const busy = { code: "unavailable", retryAfterSeconds: 1, message: /^Another change of this resource is in progress/ };

/** Asks for a place; `isIn` reports whether it was admitted by now. */
function asking(gate: ReturnType<typeof createTransactionGate>, key?: string) {
  const place = gate.enter(key);
  const asked = { place, isIn: false };
  place.then(
    () => {
      asked.isIn = true;
    },
    () => {},
  );
  return asked;
}
const turn = () => new Promise(setImmediate);

test("one transaction of a key goes on at a time, without holding other keys", async () => {
  const gate = createTransactionGate(roomy);
  const [first, second] = [asking(gate, "a"), asking(gate, "a")];
  const others = [asking(gate, "b"), asking(gate), asking(gate)];
  await turn();
  assert.deepEqual(
    [first, second, ...others].map(({ isIn }) => isIn),
    [true, false, true, true, true],
  );
  (await first.place).leave(false);
  await second.place;
});

test("when one gives up waiting for a row, those of its key that wait give up with it", async () => {
  const gate = createTransactionGate(roomy);
  const [first, second] = [asking(gate, "a"), asking(gate, "a")];
  (await first.place).leave(true);
  await assert.rejects(second.place, busy);
  await asking(gate, "a").place;
});

test("transactions are limited over all keys, the first able to start going first", async () => {
  const gate = createTransactionGate({ ...roomy, max: 2 });
  const [first, second] = [asking(gate, "a"), asking(gate, "b")];
  const [third, fourth] = [asking(gate, "a"), asking(gate, "c")];
  await turn();
  assert.deepEqual([third.isIn, fourth.isIn], [false, false]);
  (await second.place).leave(false);
  await fourth.place;
  assert.equal(third.isIn, false);
  (await first.place).leave(false);
  await third.place;
});

test("a transaction that waits too long is refused without leaving a place behind", async () => {
  const gate = createTransactionGate({ ...roomy, max: 2, waitMs: 1 });
  const first = asking(gate, "a");
  await assert.rejects(asking(gate, "a").place, busy);
  await asking(gate, "b").place;
  await assert.rejects(asking(gate, "c").place, { code: "unavailable", message: /too busy/ });
  (await first.place).leave(false);
  await asking(gate, "c").place;
});

test("more than may wait are refused at once", async () => {
  const gate = createTransactionGate({ ...roomy, max: 1, waitingMax: 1 });
  const first = await asking(gate).place;
  const second = asking(gate);
  await assert.rejects(gate.enter(undefined), { code: "unavailable", message: /too busy/ });
  first.leave(false);
  await second.place;
});
