import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageError } from "./failures.ts";
import { parseTime } from "./parse-time.ts";

test("a day that the calendar does not have is refused", () => {
  for (const text of ["2026-02-30", "2026-02-30T12:00:00Z", "2026-04-31T00:00:00+02:00", "2026-13-01"]) {
    assert.throws(() => parseTime("from", text, 0), UsageError, text);
  }
});

test("the time that the message recommends is taken", () => {
  assert.throws(
    () => parseTime("from", "soon", 0),
    (error: Error) => {
      const [example = ""] = /\d{4}-\S+Z/.exec(error.message) ?? [];
      return parseTime("from", example, 0).toISOString() === "2026-01-31T09:00:00.000Z";
    },
  );
});
