import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "@signalbox/testing";
import { createLimiter } from "../log/concurrency.ts";
import type { ReceivedRecord } from "../log/event-log.ts";
import { type BatchParts, handleBatch } from "./handle-batch.ts";
import type { MessageOutcome } from "./message-context.ts";

/** Records of the given keys in this order, such as "a b a". */
const recordsOf = (keys: string): ReceivedRecord[] =>
  keys.split(" ").map((key, at) => ({
    topic: "topic",
    partition: 0,
    offset: BigInt(at),
    timestampMs: 0,
    key,
    headers: {},
    value: null,
  }));

/** Handles the records of the keys with a number of places; collects the offsets that were handled and parked. */
function arrange(keys: string, { places = 4, ...parts }: Partial<BatchParts> & { readonly places?: number }) {
  const [handled, parked]: [number[], number[][]] = [[], []];
  const limited = createLimiter(places);
  let nowMs = 0;
  const all: BatchParts = {
    limited,
    steadyMs: () => nowMs,
    async handle(record) {
      const outcome = await (parts.handle?.(record) ?? "handled");
      handled.push(Number(record.offset));
      return outcome;
    },
    async parkBehind(records) {
      parked.push(records.map(({ offset }) => Number(offset)));
      return (await parts.parkBehind?.(records)) ?? true;
    },
  };
  const batch = { topic: "topic", partition: 0, records: recordsOf(keys), endOffset: 0n };
  const run = () => handleBatch(all, { ...batch, signal: new AbortController().signal, heartbeat: async () => {} });
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { handled, parked, limited, run, pass };
}

const queued =
  (of: string) =>
  async ({ key }: ReceivedRecord): Promise<MessageOutcome> =>
    key === of ? "queued" : "handled";

test("messages behind a waiting one are parked at once while other keys are handled", async () => {
  const { run, handled, parked } = arrange("a b a a c a b", { handle: queued("a") });
  assert.equal(await run(), 7);
  assert.deepEqual(parked, [[2, 3, 5]]);
  assert.deepEqual(handled.toSorted(), [0, 1, 4, 6]);
});

test("messages whose queue was emptied meanwhile are handled one by one, in their order", async () => {
  const { run, handled, parked } = arrange("a a a", { handle: queued("a"), parkBehind: async () => false });
  assert.equal(await run(), 3);
  assert.deepEqual(handled, [0, 1, 2]);
  assert.deepEqual(parked, [[1, 2]]);
});

test("a message that could not be parked comes again", async () => {
  const parkBehind = () => Promise.reject(new Error("the database is away"));
  const { run } = arrange("a a a b", { handle: queued("a"), parkBehind, places: 1 });
  assert.equal(await run(), 1);
});

test("a busy key holds one place while other keys or batches share the rest", async () => {
  const gate = Promise.withResolvers<void>();
  const { run, handled, limited } = arrange("a a a a a b", {
    places: 2,
    async handle({ key }) {
      if (key === "a") await gate.promise;
      return "handled";
    },
  });
  const running = run();
  await eventually(() => handled.includes(5));
  await limited(async () => {}); // of another batch
  assert.deepEqual(handled, [5]);
  gate.resolve();
  assert.equal(await running, 6);
  assert.deepEqual(handled, [5, 0, 1, 2, 3, 4]);
});

test("messages behind a busy key are started only within the bound that may come again", async () => {
  const gate = Promise.withResolvers<void>();
  const { run, handled } = arrange(`${"a ".repeat(31)}b a c`, {
    async handle({ key }) {
      if (key === "a") await gate.promise;
      return "handled";
    },
  });
  const running = run();
  await eventually(() => handled.length === 1);
  assert.deepEqual(handled, [31]);
  gate.resolve();
  assert.equal(await running, 34);
});

test("a batch whose time is over starts nothing more, not even messages behind a busy key", async () => {
  const gate = Promise.withResolvers<void>();
  const { run, handled, pass } = arrange("a a a", {
    async handle() {
      await gate.promise;
      return "handled";
    },
  });
  const running = run();
  pass(501);
  gate.resolve();
  assert.equal(await running, 1);
  assert.deepEqual(handled, [0]);
});

test("a batch is done up to its first failure, or fails with it at the start", async () => {
  const failing = (at: bigint) => ({
    places: 1,
    async handle({ offset }: ReceivedRecord): Promise<MessageOutcome> {
      if (offset === at) throw new Error("broken");
      return "handled";
    },
  });
  assert.equal(await arrange("a b a b", failing(2n)).run(), 2);
  await assert.rejects(arrange("a b a b", failing(0n)).run(), /broken/);
});
