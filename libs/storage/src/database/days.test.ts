import assert from "node:assert/strict";
import { test } from "node:test";
import { hours } from "@signalbox/core";
import fc from "fast-check";
import { stretchesBack } from "./days.ts";

test("stretches go back without gap or overlap, in few steps", () => {
  const years = fc.integer({ min: 0, max: 3650 * hours(24) });
  const bounds = fc.tuple(years, years).map(([one, other]) => ({
    fromMs: Math.min(one, other),
    toMs: Math.max(one, other),
  }));
  fc.assert(
    fc.property(bounds, ({ fromMs, toMs }) => {
      const stretches = [...stretchesBack({ fromMs, toMs })];
      let end = toMs;
      for (const stretch of stretches) {
        assert.equal(stretch.toMs, end);
        assert.ok(stretch.fromMs < stretch.toMs);
        end = stretch.fromMs;
      }
      assert.equal(end, fromMs);
    }),
  );
  assert.equal([...stretchesBack({ fromMs: 0, toMs: hours(24) * 365 })].length, 8);
});
