import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { ReplayQueue } from "./replay-queue.ts";

/** A queue whose replays end when the test says so; `running` names them in the order in which they started. */
function queueUnderTest() {
  const queue = new ReplayQueue();
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (name: string, over: Promise<void> = new Promise(() => {})) =>
    queue.run(name.split(" ")[0] as string, over, async () => {
      running.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await turn();
  };
  return { ask, end, running };
}

test("a payer with many replays leaves places for another", async () => {
  const { ask, running } = queueUnderTest();
  for (let index = 1; index <= 20; index++) void ask(`ada ${index}`);
  void ask("bob 1");
  await turn();
  assert.deepEqual(running, ["ada 1", "ada 2", "bob 1"]);
});

test("payers that wait take turns", async () => {
  const { ask, end, running } = queueUnderTest();
  for (const payer of ["a", "b", "c", "d"]) for (const index of [1, 2]) void ask(`${payer} ${index}`);
  for (let index = 3; index <= 9; index++) void ask(`a ${index}`);
  void ask("e 1");
  await turn();
  assert.equal(running.length, 8);
  await end("a 1");
  await end("a 2");
  assert.deepEqual(running.slice(8), ["a 3", "e 1"]);
});

test("a replay whose stream is over takes no place", async () => {
  const { ask, end, running } = queueUnderTest();
  const over = Promise.withResolvers<void>();
  void ask("a 1");
  void ask("a 2");
  const gone = ask("a 3", over.promise);
  over.resolve();
  await gone;
  void ask("a 4");
  await turn();
  await end("a 1");
  assert.deepEqual(running, ["a 1", "a 2", "a 4"]);
});
