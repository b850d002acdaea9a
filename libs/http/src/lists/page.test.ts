import assert from "node:assert/strict";
import { test } from "node:test";
import { rangeOf } from "./page.ts";

test("a list that is at hand is read in pages, in its order, also when the last one shown is gone", () => {
  const position = ({ id, at }: { id: string; at: number }) => ({ id, at: new Date(at) });
  const rows = [
    { id: "b", at: 1 },
    { id: "c", at: 2 },
    { id: "a", at: 1 },
  ];
  const ids = (after: { id: string; at: number } | null, of = rows) =>
    rangeOf(of, { after: after && position(after), limit: 2 }, position).map(({ id }) => id);
  assert.deepEqual(ids(null), ["a", "b"]);
  assert.deepEqual(ids({ id: "b", at: 1 }), ["c"]);
  const withoutB = rows.filter(({ id }) => id !== "b");
  assert.deepEqual(ids({ id: "b", at: 1 }, withoutB), ["c"]);
  assert.deepEqual(ids({ id: "c", at: 2 }), []);
});
