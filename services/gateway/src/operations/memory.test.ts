import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { MiB } from "@signalbox/core";
import { buildSchema } from "graphql";
import { testOperations } from "../../test/test-operations.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const schema = buildSchema("type Query { sum(of: [Int]): Int }");
/** A quarter of what the documents of the test would take. */
const cacheBytesMax = 8 * MiB;
const { signal } = new AbortController();
const context = { principal: null, signal, requestId: "r-1", clientAddress: "127.0.0.1", idempotencyKey: null };
const nothingElse = { variables: undefined, operationName: undefined, documentId: null, resumeAfter: null };
const numbers = "1234567890123456 ".repeat(470);

/** 8 KB each, all different: one that is never run, one that does not validate, one that does not parse. */
const hostile = [
  (n: number) => ({ query: `query Q${n} { sum(of: [${numbers}]) }`, operationName: "Other" }),
  (n: number) => ({ query: `{ sum(of: [${numbers}]) nothing${n} }` }),
  (n: number) => ({ query: `{ sum(of: [${numbers}]) (${n}` }),
];

test("unique documents leave the heap within twice the cache, whatever their number", async () => {
  const supergraph = { schema, execute: async () => ({ data: "{}", objects: 1, errors: [] }), close: async () => {} };
  const { operations } = testOperations({ supergraph, documentCacheBytesMax: cacheBytesMax });
  let before = 0;
  for (let n = 0; n < 4_100; n++) {
    // The first ones leave compiled code behind.
    if (n === 100) before = heapBytes();
    const request = hostile[n % hostile.length]?.(n) ?? assert.fail();
    const { status } = await operations.execute({ ...nothingElse, ...request }, context, "queries and mutations");
    assert.equal(status, 400);
  }
  const grown = heapBytes() - before;
  assert.ok(operations, "they are in use while the heap is looked at");
  assert.ok(grown < 2 * cacheBytesMax, `the heap grew by ${Math.round(grown / MiB)} MiB`);
});
