import assert from "node:assert/strict";
import { test } from "node:test";
import { loadTogether } from "./load-together.ts";

/** A loader of texts that are longer than one character, and what it was asked for. */
function given() {
  const asked: string[][] = [];
  const load = loadTogether(
    async (keys) => {
      asked.push([...keys]);
      return keys.filter((key) => key.length > 1);
    },
    (item) => item,
  );
  return { asked, load };
}

test("look-ups made side by side are one, each key once, and every caller gets its own", async () => {
  const { asked, load } = given();
  const answers = await Promise.all(["aa", "b", "cc", "aa"].map(load));
  assert.deepEqual(answers, ["aa", null, "cc", "aa"]);
  assert.deepEqual(asked, [["aa", "b", "cc"]]);
  assert.equal(await load("aa"), "aa");
  await load("dd");
  assert.deepEqual(asked, [["aa", "b", "cc"], ["dd"]], "what was found is not asked for again");
});

test("what can be no id is not there, and nobody is asked", async () => {
  const { asked, load } = given();
  assert.deepEqual(await Promise.all(["", "a\u0000", "x".repeat(65)].map(load)), [null, null, null]);
  assert.deepEqual(asked, []);
});

test("many look-ups are a few statements of bounded length", async () => {
  const { asked, load } = given();
  const keys = Array.from({ length: 1200 }, (_, at) => `key_${at}`);
  assert.deepEqual(await Promise.all(keys.map(load)), keys);
  assert.deepEqual(asked.map(({ length }) => length).sort(), [200, 500, 500]);
});

test("a failed look-up fails every caller that waited for it, and nobody else", async () => {
  let fails = true;
  const load = loadTogether(
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
