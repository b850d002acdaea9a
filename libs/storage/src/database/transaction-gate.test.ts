import assert from "node:assert/strict";
import { test } from "node:test";
import { createTransactionGate } from "./transaction-gate.ts";

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

test("of one key one transaction goes on at once, the next waits for it, and other keys for none", async () => {
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

test("the number of transactions is limited over all keys, and the first in line that may start goes first", async () => {
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

test("a transaction that waits too long is refused with the reason, and leaves no place behind", async () => {
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
