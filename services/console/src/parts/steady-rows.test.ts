import assert from "node:assert/strict";
import { test } from "node:test";
import { steadyRows } from "./steady-rows.ts";

const row = (id: string, status = "pending") => ({ id, status });
const keyOf = ({ id }: { readonly id: string }) => id;

test("rows under the pointer change in place while new ones wait", () => {
  const held = [row("b"), row("a")];
  const now = [row("d"), row("c"), row("b", "succeeded")];
  assert.deepEqual(steadyRows(held, now, keyOf), { shown: [row("b", "succeeded"), row("a")], waiting: 2 });
});

test("a row that is gone leaves when no other took its place", () => {
  assert.deepEqual(steadyRows([row("b"), row("a")], [row("a")], keyOf), { shown: [row("a")], waiting: 0 });
});
