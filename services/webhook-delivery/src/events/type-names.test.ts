import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { matchesOf } from "./type-names.ts";

const known = (names: readonly string[]) => ({ names: [...new Set(names)].sort(), isComplete: true });
const names = known(["bill.paid", "image.created", "image.deleted", "images.counted", "order.created"]);

test("a name matches itself alone, a prefix every name that begins with it", () => {
  assert.deepEqual(matchesOf("image.created", names), { count: 1, types: ["image.created"] });
  assert.deepEqual(matchesOf("image.*", names), { count: 2, types: ["image.created", "image.deleted"] });
  assert.deepEqual(matchesOf("image*", names).count, 3);
  assert.deepEqual(matchesOf("*", names).count, 5);
  for (const filter of ["imagee.created", "image", "zoo.*", "a.*"]) {
    assert.deepEqual(matchesOf(filter, names), { count: 0, types: [] }, filter);
  }
});

test("the matches are those that reading all names finds, however many and whatever their characters", () => {
  const word = fc.stringMatching(/^[a-c._\u00e9\u{1f600}]{0,4}$/u);
  fc.assert(
    fc.property(fc.array(word, { maxLength: 40 }), word, fc.boolean(), (given, text, isPrefix) => {
      const all = known(given);
      const right = all.names.filter((name) => (isPrefix ? name.startsWith(text) : name === text));
      const { count, types } = matchesOf(isPrefix ? `${text}*` : text, all);
      assert.deepEqual([count, types], [right.length, right.slice(0, 10)]);
    }),
  );
});
