import assert from "node:assert/strict";
import { test } from "node:test";
import { createManualClock, seconds } from "@signalbox/core";
import { RenderBudget } from "../state/render-budget.ts";
import { RenditionMemory, SharedWork } from "../state/rendition-memory.ts";

test("each account has its own budget, which is refused with the time to return until it fills again", () => {
  const clock = createManualClock();
  const budget = new RenderBudget(clock, () => 6_000);
  budget.spend("acc_1", 5_999);
  budget.requireLeft("acc_1");
  budget.spend("acc_1", 1_001);
  assert.throws(() => budget.requireLeft("acc_1"), { code: "rate_limited", retryAfterSeconds: 11 });
  assert.deepEqual([budget.isLeft("acc_1"), budget.isLeft("acc_2")], [false, true]);
  clock.advance(seconds(10));
  assert.equal(budget.isLeft("acc_1"), false);
  clock.advance(seconds(1));
  budget.requireLeft("acc_1");
  clock.advance(seconds(3600));
  budget.spend("acc_1", 6_000);
  assert.equal(budget.isLeft("acc_1"), false, "no more than one minute's budget is saved up");
});

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

test("callers of one key share one work until it ends", async () => {
  const shared = new SharedWork<string>();
  const { work, finish, signals } = slowWork();
  const both = [shared.join("a", work), shared.join("a", work)];
  finish("made");
  assert.deepEqual(await Promise.all(both), ["made", "made"]);
  assert.equal(signals.length, 1);
  assert.equal(await shared.join("a", async () => "again"), "again");
});

test("only the last caller that leaves cancels the work", async () => {
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

test("a failure reaches all waiting callers but no later one", async () => {
  const shared = new SharedWork<string>();
  const fail = () => Promise.reject(new Error("no"));
  for (const waiting of [shared.join("a", fail), shared.join("a", fail)]) await assert.rejects(waiting, /no/);
  assert.equal(shared.has("a"), false);
});

test("no more bytes are kept than allowed: the least recently used go first", () => {
  const memory = new RenditionMemory(320).bytes;
  for (let index = 0; index < 32; index++) memory.set(`k${index}`, Buffer.alloc(10, index));
  assert.equal(memory.get("k0")?.[0], 0);
  memory.set("new", Buffer.alloc(10));
  assert.equal(memory.has("k1"), false);
  assert.ok(memory.get("k0"));
  assert.ok(memory.get("new"));
});

test("a rendition that would evict many others is not kept", () => {
  const memory = new RenditionMemory(320).bytes;
  memory.set("large", Buffer.alloc(11));
  memory.set("small", Buffer.alloc(10));
  assert.deepEqual([memory.has("large"), memory.has("small")], [false, true]);
});

test("without memory nothing is kept", () => {
  const memory = new RenditionMemory(0).bytes;
  memory.set("k", Buffer.alloc(30));
  assert.equal(memory.has("k"), false);
});
