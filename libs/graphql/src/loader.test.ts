import assert from "node:assert/strict";
import { test } from "node:test";
import { createLoader } from "./loader.ts";

test("what was found is not asked for again, and each of the callers gets its own", async () => {
  const asked: (readonly string[])[] = [];
  const load = createLoader(
    async (keys) => {
      asked.push(keys);
      return keys.filter((key) => key.length > 1);
    },
    (item) => item,
  );
  const answers = await Promise.all(["aa", "b", "cc", "aa"].map(load));
  assert.deepEqual(answers, ["aa", null, "cc", "aa"]);
  assert.deepEqual(asked, [["aa", "b", "cc"]]);
  assert.equal(await load("aa"), "aa");
  await load("dd");
  assert.deepEqual(asked, [["aa", "b", "cc"], ["dd"]]);
  assert.deepEqual(await Promise.all(["", "a\u0000", "x".repeat(65)].map(load)), [null, null, null]);
  assert.equal(asked.length, 2, "what can be no id is asked of nobody");
});

test("many look-ups are a few statements of bounded length", async () => {
  const lengths: number[] = [];
  const load = createLoader(
    async (keys) => {
      lengths.push(keys.length);
      return keys;
    },
    (item) => item,
  );
  const keys = Array.from({ length: 1200 }, (_, at) => `key_${at}`);
  assert.deepEqual(await Promise.all(keys.map(load)), keys);
  assert.deepEqual(lengths.sort(), [200, 500, 500]);
});

test("a failed look-up fails every caller that waited for it, and nobody else", async () => {
  let fails = true;
  const load = createLoader(
    async (keys) => {
      if (fails) throw new Error("away");
      return keys;
    },
    (item) => item,
  );
  const answers = await Promise.allSettled([load("a"), load("b")]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  fails = false;
  assert.equal(await load("c"), "c");
});
