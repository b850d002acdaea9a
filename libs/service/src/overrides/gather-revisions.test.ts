import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "@signalbox/testing";
import { createRevisionGathering } from "./gather-revisions.ts";

function given(waitMs?: number) {
  const taken: Record<string, unknown>[] = [];
  const gathering = createRevisionGathering((changes) => {
    taken.push(Object.fromEntries([...changes].map(([name, { value }]) => [name, value])));
  }, waitMs);
  const add = (name: string, revision: number, together: number) =>
    gathering.add(name, { revision, set: true, value: revision, secrecy: "public" }, together);
  return { taken, add };
}

test("properties changed in one revision change together, despite records in between and repetitions", () => {
  const { taken, add } = given();
  add("a", 7, 2);
  add("a", 7, 2);
  add("c", 8, 1);
  assert.deepEqual(taken, [{ c: 8 }]);
  add("b", 7, 2);
  assert.deepEqual(taken, [{ c: 8 }, { a: 7, b: 7 }]);
});

test("an incomplete revision is not waited for without end", async () => {
  const { taken, add } = given(1);
  add("a", 7, 2);
  await eventually(() => taken.length === 1);
  assert.deepEqual(taken, [{ a: 7 }]);
});
