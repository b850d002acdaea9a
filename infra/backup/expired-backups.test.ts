import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hours } from "@signalbox/core";
import fc from "fast-check";
import { expiredBackups } from "./scheduled-backup.ts";

const now = Date.parse("2026-03-31T12:30:00Z");
/** One at each full hour of so many days, the newest first. */
const hourly = (days: number, isVerified = true) =>
  Array.from({ length: 24 * days }, (_, place) => {
    const takenAtMs = Date.parse("2026-03-31T12:00:00Z") - hours(place);
    return { name: new Date(takenAtMs).toISOString().slice(0, 13), takenAtMs, isVerified };
  });

describe("the backups that are removed", () => {
  it("are all but the newest ones and the last one of each day", () => {
    const all = hourly(5);
    const removed = new Set(expiredBackups(all, { keepLast: 3, keepDays: 3 }, now));
    const kept = all.filter(({ name }) => !removed.has(name)).map(({ name }) => name);
    assert.deepEqual(kept, ["2026-03-31T12", "2026-03-31T11", "2026-03-31T10", "2026-03-30T23", "2026-03-29T23"]);
  });

  it("never leave fewer than the number to keep, nor remove the newest verified one", () => {
    const some = fc.array(fc.record({ takenAtMs: fc.nat(hours(24 * 60)), isVerified: fc.boolean() }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(some, fc.integer({ min: 1, max: 30 }), fc.nat(30), (given, keepLast, keepDays) => {
        const all = given.map(({ takenAtMs, isVerified }, name) => ({
          name: `${name}`,
          takenAtMs: now - takenAtMs,
          isVerified,
        }));
        const removed = new Set(expiredBackups(all, { keepLast, keepDays }, now));
        const kept = all.filter(({ name }) => !removed.has(name));
        assert.ok(kept.length >= Math.min(keepLast, all.length));
        const newest = (of: typeof all) => Math.max(...of.filter((one) => one.isVerified).map((one) => one.takenAtMs));
        assert.equal(newest(kept), newest(all));
      }),
    );
  });

  it("may all be found damaged: then the newest ones stay", () => {
    assert.equal(expiredBackups(hourly(2, false), { keepLast: 4, keepDays: 0 }, now).length, 44);
  });
});
