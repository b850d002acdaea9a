import assert from "node:assert/strict";
import { test } from "node:test";
import { isAppError } from "@signalbox/core";
import { createJobSlots } from "./job-slots.ts";

function held() {
  let release = () => {};
  const promise = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { promise, release };
}

test("no more jobs run at once than there are slots, and they start in the order they came", async () => {
  const slots = createJobSlots({ slots: 2, waitingCostMax: 100 });
  const started: number[] = [];
  const gates = [held(), held(), held(), held()];
  const jobs = gates.map((gate, index) =>
    slots.run(1, async () => {
      started.push(index);
      await gate.promise;
    }),
  );
  await Promise.resolve();
  assert.deepEqual(started, [0, 1]);
  gates[1]?.release();
  await jobs[1];
  assert.deepEqual(started, [0, 1, 2]);
  for (const gate of gates) gate.release();
  await Promise.all(jobs);
  assert.deepEqual(slots.load(), { running: 0, waiting: 0, waitingCost: 0 });
});

test("too much cost in line is refused at once with the time to come back", async () => {
  const slots = createJobSlots({ slots: 1, waitingCostMax: 3000 });
  const gate = held();
  const running = slots.run(1, () => gate.promise);
  const waiting = slots.run(2500, async () => {});
  await assert.rejects(
    slots.run(600, async () => {}),
    (error) => isAppError(error) && error.code === "unavailable" && error.retryAfterSeconds === 3,
  );
  const cheap = slots.run(400, async () => "in");
  gate.release();
  assert.equal(await cheap, "in");
  await Promise.all([running, waiting]);
});

test("a job that fails gives its slot back", async () => {
  const slots = createJobSlots({ slots: 1, waitingCostMax: 1 });
  await assert.rejects(
    slots.run(1, async () => {
      throw new Error("no");
    }),
  );
  assert.equal(await slots.run(5000, async () => "next"), "next");
});
