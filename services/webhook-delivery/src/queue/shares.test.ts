import assert from "node:assert/strict";
import { test } from "node:test";
import { Shares } from "./shares.ts";

/** Takes all that the owner may have, one at a time. */
function fill(shares: Shares, owner: string): number {
  while (shares.roomOf(owner) > 0) shares.add(owner, 1);
  return shares.heldBy(owner);
}

test("owners that take all they may leave a share for the next one", () => {
  const shares = new Shares(1_000, 1);
  assert.deepEqual(
    ["ada", "bob", "eve"].map((owner) => fill(shares, owner)),
    [500, 250, 125],
  );
  shares.add("ada", -500);
  assert.equal(fill(shares, "joe"), 313);
});

test("the room is what an owner gets by taking one after the other", () => {
  for (const factor of [1, 7]) {
    for (const max of [1, 2, 3, 8, 64]) {
      const shares = new Shares(max, factor);
      const room = shares.roomOf("ada");
      assert.equal(fill(shares, "ada"), room);
      assert.ok(room >= 1 && room <= max);
    }
  }
});
