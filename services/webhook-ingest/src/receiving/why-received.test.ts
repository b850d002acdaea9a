import assert from "node:assert/strict";
import { test } from "node:test";
import { createManualClock, hours, newId } from "@signalbox/core";
import { whyReceived } from "./why-received.ts";

test("a received webhook that a delivery leads to and that is gone leaves a hole: its date, or its deleted source", () => {
  const clock = createManualClock(new Date("2026-03-01T12:00:00Z"));
  const finders = whyReceived({
    receivedStore: { findOwnMany: async () => [] },
    rejectionStore: { findOwn: async () => null },
    sourceStore: { find: async () => null },
    keepMs: () => hours(30 * 24),
    clock,
  });
  const missing = (at: string) => {
    const id = newId("rcv", Date.parse(at));
    return finders.find(({ knows }) => knows(id))?.missing?.(id);
  };
  assert.equal(missing("2026-01-01T12:00:00Z")?.reason, "expired 2026-01-31");
  assert.equal(missing("2026-02-27T12:00:00Z")?.reason, "its source was deleted");
  assert.equal(missing("2026-02-27T12:00:00Z")?.verdict, "hole");
});
