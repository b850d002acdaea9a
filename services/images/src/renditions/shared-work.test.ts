import assert from "node:assert/strict";
import { test } from "node:test";
import { SharedWork } from "./shared-work.ts";

/** Work that ends on command and records its calls. */
function slowWork() {
  const { promise, resolve } = Promise.withResolvers<string>();
  const signals: AbortSignal[] = [];
  const work = (signal: AbortSignal) => {
    signals.push(signal);
    return promise;
  };
  return { work, finish: resolve, signals };
}

test("callers of one key share one work, and the next one starts again", async () => {
  const shared = new SharedWork<string>();
  const { work, finish, signals } = slowWork();
  const both = [shared.join("a", work), shared.join("a", work)];
  finish("made");
  assert.deepEqual(await Promise.all(both), ["made", "made"]);
  assert.equal(signals.length, 1);
  assert.equal(await shared.join("a", async () => "again"), "again");
});

test("a caller that leaves does not stop the others, and the last one cancels the work", async () => {
  const shared = new SharedWork<string>();
  const { work, signals } = slowWork();
  const [one, two] = [new AbortController(), new AbortController()];
  const [first, second] = [shared.join("a", work, one.signal), shared.join("a", work, two.signal)];
  one.abort(new Error("first left"));
  await assert.rejects(first, /first left/);
  assert.equal(signals[0]?.aborted, false);
  two.abort(new Error("second left"));
  await assert.rejects(second, /second left/);
  assert.equal(signals[0]?.aborted, true);
  assert.equal(await shared.join("a", async () => "for somebody else"), "for somebody else");
});

test("a failure reaches all waiting callers and is not remembered", async () => {
  const shared = new SharedWork<string>();
  const fail = () => Promise.reject(new Error("no"));
  for (const waiting of [shared.join("a", fail), shared.join("a", fail)]) await assert.rejects(waiting, /no/);
  assert.equal(shared.has("a"), false);
});
