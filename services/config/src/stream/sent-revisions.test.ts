import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Known, SentRevisions } from "./sent-revisions.ts";

const known = (changes: Record<string, number>, flags: Record<string, number> = {}): Known => ({
  changes: Object.fromEntries(Object.entries(changes).map(([name, revision]) => [name, { revision }])),
  flags: Object.entries(flags).map(([key, revision]) => ({ key, revision })),
});

test("values known at the start are old; later changes are found once, by their revision", () => {
  const sent = new SentRevisions(known({ a: 3 }, { f: 2 }), 3);
  assert.deepEqual(sent.take(known({ a: 3 }, { f: 2 })), []);
  const found = sent.take(known({ a: 5, b: 5, c: 4 }, { f: 6 }));
  assert.deepEqual(found, [
    { revision: 4, names: ["c"], flags: [] },
    { revision: 5, names: ["a", "b"], flags: [] },
    { revision: 6, names: [], flags: ["f"] },
  ]);
  assert.deepEqual(sent.take(known({ a: 5, b: 5, c: 4 }, { f: 6 })), []);
});

test("an id never promises a revision that was not sent, in any order of arrival", () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(Array.from({ length: 20 }, (_, index) => index + 1)), (order) => {
      const sent = new SentRevisions(known({}), 0);
      const seen = new Set<number>();
      for (const revision of order) {
        seen.add(revision);
        const id = sent.markSent(revision);
        for (let each = 1; each <= id; each++) assert.ok(seen.has(each), `${id} without ${each}`);
        if ([...seen].every((each) => each <= id)) assert.equal(id, Math.max(...seen));
      }
    }),
  );
});
