import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError, createManualClock } from "@signalbox/core";
import { GroupCommit, type GroupCommitOptions } from "./group-commit.ts";

interface Note {
  readonly owner: string;
  readonly text: string;
}

type Options = Partial<GroupCommitOptions<Note, string>>;

/** A group whose batches are recorded; `before` runs within each. */
function group(options: Options = {}, before: (texts: readonly string[]) => unknown = () => {}) {
  const batches: (readonly string[])[] = [];
  const clock = createManualClock();
  const notes = new GroupCommit<Note, string>({
    clock,
    sizeMax: 8,
    batchesMax: 2,
    ownerOf: ({ owner }) => owner,
    async write(batch) {
      const texts = batch.map(({ text }) => text);
      batches.push(texts);
      await before(texts);
      return texts.map((text) => `wrote ${text}`);
    },
    ...options,
  });
  const add = (text: string, owner = "a") => notes.add({ owner, text });
  return { add, batches, clock };
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1));
const turn = () => new Promise(setImmediate);

test("writes of one turn share a batch in order, with an outcome each", async () => {
  const { add, batches } = group();
  assert.deepEqual(await Promise.all(upTo(3).map((text) => add(text))), ["wrote 1", "wrote 2", "wrote 3"]);
  assert.deepEqual(batches, [["1", "2", "3"]]);
});

test("writes that arrive while a batch is written go together after it", async () => {
  const gate = Promise.withResolvers<void>();
  const { add, batches } = group({}, () => gate.promise);
  const first = add("1");
  await turn();
  const others = ["2", "3"].map((text) => add(text));
  await turn();
  assert.deepEqual(batches, [["1"]]);
  gate.resolve();
  await Promise.all([first, ...others]);
  assert.deepEqual(batches, [["1"], ["2", "3"]]);
});

test("a full batch does not wait for the one before it, up to the number of batches", async () => {
  const gate = Promise.withResolvers<void>();
  const { add, batches } = group({ sizeMax: 2 }, () => gate.promise);
  const all = Promise.all(upTo(6).map((text) => add(text)));
  await turn();
  assert.deepEqual(batches, [
    ["1", "2"],
    ["3", "4"],
  ]);
  gate.resolve();
  await all;
});

test("owners take turns: one that sends much does not hold up another", async () => {
  const { add, batches } = group({ sizeMax: 4, batchesMax: 1 });
  await Promise.all([...upTo(6).map((text) => add(text)), add("b1", "b"), add("c1", "c")]);
  assert.deepEqual(batches, [
    ["1", "b1", "c1", "2"],
    ["3", "4", "5", "6"],
  ]);
});

test("a batch holds as much as its size allows; a larger item goes alone", async () => {
  const { add, batches } = group({ sizeMax: 5, batchesMax: 1, sizeOf: ({ text }) => text.length });
  await Promise.all(["aaa", "bb", "c", "dddddddd", "e"].map((text) => add(text)));
  assert.deepEqual(batches, [["aaa", "bb"], ["c"], ["dddddddd"], ["e"]]);
});

test("items of one key never share a batch or hold others back", async () => {
  const { add, batches } = group({ batchesMax: 1, keysOf: ({ text }) => [text.charAt(0)] });
  await Promise.all(["x1", "x2", "y1"].map((text) => add(text)));
  assert.deepEqual(batches, [["x1", "y1"], ["x2"]]);
});

test("a fault that belongs to one item is its own: the others of its batch are written", async () => {
  const { add, batches } = group({}, (texts) => {
    if (texts.includes("3")) throw new Error("3 is bad");
  });
  const settled = await Promise.allSettled(upTo(4).map((text) => add(text)));
  assert.deepEqual(
    settled.map((one) => (one.status === "fulfilled" ? one.value : one.reason.message)),
    ["wrote 1", "wrote 2", "3 is bad", "wrote 4"],
  );
  assert.deepEqual(batches, [["1", "2", "3", "4"], ["1", "2"], ["3", "4"], ["3"], ["4"]]);
});

test("while the database is away every item is refused, none written twice", async () => {
  const { add, batches } = group({}, () => {
    throw new AppError("unavailable", "away");
  });
  const settled = await Promise.allSettled(upTo(3).map((text) => add(text)));
  assert.deepEqual(
    settled.map(({ status }) => status),
    ["rejected", "rejected", "rejected"],
  );
  assert.equal(batches.length, 1);
});

test("the queue is bounded in length, per owner and in waiting time", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const gate = Promise.withResolvers<void>();
  const { add, batches } = group({ sizeMax: 1, batchesMax: 1, waitingMax: 4, waitMs: 100 }, () => gate.promise);
  const written = add("1");
  await turn();
  const waiting = ["2", "3"].map((text) => add(text));
  await assert.rejects(add("4"), { code: "unavailable" });
  const others = ["b1", "b2"].map((text) => add(text, "b"));
  await assert.rejects(add("c1", "c"), { code: "unavailable" });
  t.mock.timers.tick(100);
  for (const one of [...waiting, ...others]) await assert.rejects(one, { code: "unavailable" });
  gate.resolve();
  assert.equal(await written, "wrote 1");
  assert.deepEqual(batches, [["1"]]);
});

test("a batch that waits for a lock holds up the next one for a moment only", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const gate = Promise.withResolvers<void>();
  const { add, batches, clock } = group({}, (texts) => (texts.includes("1") ? gate.promise : undefined));
  const held = add("1");
  await turn();
  const next = add("2");
  await turn();
  assert.deepEqual(batches, [["1"]]);
  clock.advance(25);
  t.mock.timers.tick(25);
  assert.equal(await next, "wrote 2");
  gate.resolve();
  await held;
});

test("batches that are not full keep their distance, so that a steady stream costs fewer commits", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { add, batches, clock } = group({ apartMs: 5 });
  await add("1");
  const others = ["2", "3"].map((text) => add(text));
  await turn();
  assert.deepEqual(batches, [["1"]]);
  clock.advance(5);
  t.mock.timers.tick(5);
  await Promise.all(others);
  assert.deepEqual(batches, [["1"], ["2", "3"]]);
});
