import assert from "node:assert/strict";
import { test } from "node:test";
import { hours, uuidv7 } from "@signalbox/core";
import fc from "fast-check";
import { dayMs, dayOfTable, firstIdAt, startOfDay, stretchesBack, tableOfDay, timeOfId } from "./audit-days.ts";

const times = fc.integer({ min: 0, max: Date.parse("9999-12-31T00:00:00Z") });

test("the ids of a day are those between its first id and the next day's", () => {
  fc.assert(
    fc.property(times, (ms) => {
      const id = uuidv7(ms);
      const start = startOfDay(ms);
      return firstIdAt(start) < id && id < firstIdAt(start + dayMs) && timeOfId(id) === ms;
    }),
  );
});

test("the table of a day is told by its name, and no other table is of a day", () => {
  assert.equal(tableOfDay(Date.parse("2026-02-03T00:00:00Z")), "audit_entries_20260203");
  fc.assert(fc.property(times, (ms) => dayOfTable(tableOfDay(startOfDay(ms))) === startOfDay(ms)));
  assert.equal(dayOfTable("audit_entries_default"), null);
});

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
