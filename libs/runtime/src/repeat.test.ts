import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createManualClock, systemClock } from "@signalbox/core";
import { quietLog } from "../test/quiet-log.ts";
import { createRunner } from "./create-runner.ts";
import { createWakeUp } from "./wake-up.ts";

const fast = { firstDelayMs: 1, delayMsMax: 2 };
const create = (clock = systemClock) => createRunner({ log: quietLog().log, clock, policy: fast });

/** A turn with numbered runs, each with the listed result, and "done" afterwards. */
function countedTurn(answers: readonly ("again" | "done" | Error)[] = []) {
  let runs = 0;
  const waiting = new Map<number, () => void>();
  const turn = async (): Promise<"again" | "done"> => {
    const answer = answers[runs++] ?? "done";
    waiting.get(runs)?.();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const reached = (count: number) =>
    new Promise<void>((resolve) => (runs >= count ? resolve() : waiting.set(count, resolve)));
  return { turn, reached, runs: () => runs };
}

test("work is repeated after its pause, which is read each time", async () => {
  const runner = create();
  const { turn, reached } = countedTurn();
  const pauses = [1, 2];
  const asked: (number | undefined)[] = [];
  runner.every("trim", () => asked[asked.push(pauses.shift()) - 1] ?? 60_000, turn);
  await reached(3);
  await setImmediate();
  assert.deepEqual(asked, [1, 2, undefined]);
  assert.deepEqual(await runner.stop(5_000), []);
});

test("work with more to do continues without a pause", async () => {
  const runner = create();
  const { turn, reached, runs } = countedTurn(["again", "again", "done"]);
  runner.every("trim", 60_000, turn);
  await reached(3);
  assert.equal(runs(), 3);
  assert.deepEqual(await runner.stop(5_000), []);
});

test("a wake-up ends the pause early, also one during the work", async () => {
  const runner = create();
  const wakeUp = createWakeUp(60_000);
  const { turn, reached } = countedTurn();
  let wakeOnce: (() => void) | null = wakeUp.wake;
  runner.every("mail", wakeUp, async () => {
    wakeOnce?.();
    wakeOnce = null;
    return turn();
  });
  await reached(2);
  await setImmediate();
  wakeUp.wake();
  await reached(3);
  assert.deepEqual(await runner.stop(5_000), []);
});

test("housekeeping waits before its first turn, no longer than its pause", async () => {
  const runner = create();
  const often = countedTurn();
  runner.housekeeping("often", 1, often.turn);
  const seldom = countedTurn();
  runner.housekeeping("seldom", 3_600_000, seldom.turn);
  await often.reached(20);
  assert.equal(seldom.runs(), 0);
  assert.deepEqual(await runner.stop(5_000), []);
});

test("failed work is repeated by the supervisor, without the pause", async () => {
  const runner = create();
  const { turn, reached } = countedTurn([new Error("no")]);
  runner.every("trim", 60_000, turn);
  await reached(2);
  assert.equal(runner.workers()[0]?.restarts, 1);
  assert.deepEqual(await runner.stop(5_000), []);
});

test("a pause longer than the allowed silence does not count as stuck; hanging work does", async (t) => {
  const clock = createManualClock();
  const runner = create(clock);
  const { turn } = countedTurn();
  const end = Promise.withResolvers<void>();
  t.mock.timers.enable({ apis: ["setInterval"] });
  runner.every("sweep", 3_600_000, turn);
  const pass = async (milliseconds: number) => {
    for (let left = milliseconds; left > 0; left -= 5_000) {
      clock.advance(5_000);
      t.mock.timers.tick(5_000);
      await setImmediate();
    }
  };
  await setImmediate();
  await pass(300_000);
  assert.equal(runner.trouble(), null);
  runner.every("hangs", 1, () => end.promise);
  await pass(70_000);
  assert.equal(runner.trouble(), "the worker hangs is stuck");
  end.resolve();
  assert.deepEqual(await runner.stop(5_000), []);
});
