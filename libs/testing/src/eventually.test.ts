import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "./eventually.ts";

test("the value of the first successful check is returned", async () => {
  let calls = 0;
  const value = await eventually(() => (++calls < 3 ? null : "here"));
  assert.equal(value, "here");
  assert.equal(calls, 3);
});

test("a check made of assertions is done once it does not throw", async () => {
  let calls = 0;
  await eventually(() => {
    calls++;
    assert.equal(calls, 4);
  });
  assert.equal(calls, 4);
});

test("zero and the empty text are values, not failures", async () => {
  assert.equal(await eventually(() => 0), 0);
  assert.equal(await eventually(() => ""), "");
});

test("time in which the process did not run does not count", async () => {
  let calls = 0;
  const value = await eventually(
    () => {
      // The pause after the second check ends 300 ms late, as on a busy machine.
      if (++calls === 2) setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300));
      return calls === 4;
    },
    { timeoutMs: 250 },
  );
  assert.equal(value, true);
});

test("a check that takes its time counts", async () => {
  const slow = eventually(() => new Promise<false>((resolve) => setTimeout(() => resolve(false), 60)), {
    timeoutMs: 100,
  });
  await assert.rejects(slow, /gave up after 100 ms/);
});

test("giving up says what was waited for and carries the last error", async () => {
  const last = new Error("two of three arrived");
  const waiting = eventually(() => Promise.reject(last), { timeoutMs: 40, message: "all events arrive" });
  await assert.rejects(waiting, (error: Error) => {
    assert.match(error.message, /gave up after 40 ms: all events arrive; last: two of three arrived/);
    return error.cause === last;
  });
});
