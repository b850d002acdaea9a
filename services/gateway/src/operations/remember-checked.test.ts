import assert from "node:assert/strict";
import { test } from "node:test";
import { rememberChecked } from "./remember-checked.ts";

function setUp(entriesMax: number) {
  const checked: string[] = [];
  const limits = { depthMax: 4 };
  const ask = rememberChecked(
    entriesMax,
    () => limits,
    (query, { depthMax }) => {
      checked.push(query);
      return `${query} under ${depthMax}`;
    },
  );
  return { ask, checked, limits };
}

test("a document is checked once while it is in use, and the least recently used one is forgotten", () => {
  const { ask, checked } = setUp(2);
  for (const query of ["a", "b", "a", "c", "a", "b"]) ask(query);
  assert.deepEqual(checked, ["a", "b", "c", "b"]);
});

test("a change of a limit holds for documents that were checked before it", () => {
  const { ask, limits } = setUp(10);
  assert.equal(ask("a"), "a under 4");
  limits.depthMax = 2;
  assert.equal(ask("a"), "a under 2");
});

test("long documents are not remembered, so nobody fills the memory with them", () => {
  const { ask, checked } = setUp(10);
  const long = "x".repeat(40_000);
  assert.equal(ask(long), ask(long));
  assert.equal(checked.length, 2);
});
