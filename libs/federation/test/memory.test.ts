import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { getOperationAST, parse } from "graphql";
import { openExecutor } from "../src/executor.ts";
import { supergraphs } from "./supergraphs.ts";
import { TestSupergraph, testCaller } from "./test-supergraph.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const planBytesMax = 2 ** 20;
const { supergraphSdl } = new TestSupergraph(supergraphs.shop);

/** Returns a new document: with new names, and every third time with a new shape that needs its own plan. */
function unseen(at: number): string {
  const shape = Array.from({ length: 9 }, (_, bit) => ((at >> bit) & 1 ? `n${bit}: handle` : "")).join(" ");
  return `{ users(limit: 2) { u${at}: handle ${at % 3 === 0 ? `friends(first: 1) { ${shape} id }` : ""}
    reviews { r${at}: stars product { p${at}: name stock price(currency: USD) } } } }`;
}

test("memory of documents that nobody sends twice stays within its bound", async (t) => {
  const executor = await openExecutor({
    supergraphSdl,
    planMsMax: 10_000,
    planBytesMax,
    send: async () => ({ data: { users: [] } }),
  });
  t.after(() => executor.close());
  const run = async (at: number) => {
    const text = unseen(at);
    const document = parse(text, { noLocation: true });
    const operation = getOperationAST(document) ?? assert.fail();
    const answer = await executor.execute({
      text,
      document,
      operation,
      variables: {},
      context: null,
      caller: testCaller,
    });
    assert.deepEqual("errors" in answer && answer.errors, []);
  };
  let before = 0;
  for (let at = 0; at < 1_600; at++) {
    // The first ones leave compiled code in the heap.
    if (at === 100) before = heapBytes();
    await run(at);
  }
  const grown = heapBytes() - before;
  assert.ok(executor.schema, "it is in use while the heap is looked at");
  // Plans and prepared operations have one bound each; the rest is compiled code.
  assert.ok(grown < 3 * planBytesMax, `the heap grew by ${Math.round(grown / 1024)} KiB`);
});
