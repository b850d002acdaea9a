import assert from "node:assert/strict";
import { test } from "node:test";
import { changedMembers, patched } from "./patch.ts";

interface Shop {
  readonly name: string;
  readonly eventTypes: readonly string[] | null;
  readonly revision: number;
}

const shop: Shop = { name: "Shop", eventTypes: ["a"], revision: 1 };

test("a patch changes its members, null included, and leaves undefined ones", () => {
  assert.deepEqual(patched(shop, { name: undefined, eventTypes: null }), { ...shop, eventTypes: null });
  assert.deepEqual(shop.eventTypes, ["a"]);
});

test("members count as changed by their content, and have their wire names", () => {
  const names = { name: "name", eventTypes: "event_types" };
  assert.deepEqual(changedMembers(shop, { ...shop, eventTypes: ["a"], revision: 2 }, names), []);
  assert.deepEqual(changedMembers(shop, { ...shop, name: "Store", eventTypes: null }, names), ["name", "event_types"]);
});
