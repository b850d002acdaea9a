import assert from "node:assert/strict";
import { test } from "node:test";
import { readTogether } from "./account-store.ts";

interface Thing {
  readonly id: string;
}

test("reads requested in one turn are one read", async () => {
  const reads: (readonly string[])[] = [];
  const read = readTogether<Thing>(async (ids) => {
    reads.push(ids);
    return ids.filter((id) => id !== "unknown").map((id) => ({ id }));
  });
  assert.deepEqual(await Promise.all([read("a"), read("b"), read("a"), read("unknown")]), [
    { id: "a" },
    { id: "b" },
    { id: "a" },
    null,
  ]);
  assert.deepEqual(await read("a"), { id: "a" });
  assert.deepEqual(reads, [["a", "b", "unknown"], ["a"]]);
});

test("a request never joins a read that was sent before it", async () => {
  const answers: (() => void)[] = [];
  let version = 0;
  const read = readTogether<Thing & { readonly version: number }>(async ([id = ""]) => {
    const seen = version;
    await new Promise<void>((resolve) => answers.push(resolve));
    return [{ id, version: seen }];
  });
  const early = read("a");
  while (answers.length === 0) await new Promise(setImmediate);
  version = 1;
  const late = read("a");
  while (answers.length === 1) await new Promise(setImmediate);
  for (const answer of answers) answer();
  assert.deepEqual([(await early)?.version, (await late)?.version], [0, 1]);
});

test("a failed read fails only the requests that wait for it", async () => {
  let failing = true;
  const read = readTogether<Thing>(async (ids) => {
    if (failing) throw new Error("away");
    return ids.map((id) => ({ id }));
  });
  const both = await Promise.allSettled([read("a"), read("b")]);
  assert.deepEqual(
    both.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  failing = false;
  assert.deepEqual(await read("a"), { id: "a" });
});
