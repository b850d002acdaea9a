import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { JsonText } from "./json-text.ts";

test("what is added stands in its order, and a cut takes back what came later, however much was joined before", () => {
  // Each step adds pieces, then cuts back to a fraction of the length; some steps exceed the number of pieces that are
  // joined at once.
  const step = fc.record({ pieces: fc.nat(1_500), keptShare: fc.constantFrom(0, 0.3, 0.99, 1) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 6 }), (steps) => {
      const text = new JsonText();
      let expected = "";
      for (const { pieces, keptShare } of steps) {
        for (let at = 0; at < pieces; at++) {
          const piece = `${at},`;
          text.add(piece);
          expected += piece;
        }
        // Cuts only ever happen at the end of a piece.
        const kept = expected.lastIndexOf(",", Math.floor(expected.length * keptShare)) + 1;
        text.cut(kept);
        expected = expected.slice(0, kept);
        assert.equal(text.length, expected.length);
      }
      assert.equal(text.toString(), expected);
    }),
  );
});
