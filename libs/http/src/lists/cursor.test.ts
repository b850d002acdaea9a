import assert from "node:assert/strict";
import { test } from "node:test";
import { cursorOf, positionOf } from "./cursor.ts";

test("a place in a list comes back as it was written", () => {
  const at = new Date("2026-01-02T03:04:05.678Z");
  assert.deepEqual(positionOf(cursorOf({ at, id: "img_01kdzq6b8n" })), { at, id: "img_01kdzq6b8n" });
});

test("a forged cursor is refused before it reaches a database", () => {
  const forged = [
    ["2026-01-02T03:04:05.678Z", "img_\0"],
    ["2026-01-02T03:04:05.678Z", "\ud800"],
    ["2026-01-02T03:04:05.678Z", ""],
    ["yesterday", "img_1"],
    ["2026-01-02T03:04:05.678Z"],
  ].map((forgery) => Buffer.from(JSON.stringify(forgery)).toString("base64url"));
  for (const cursor of [...forged, "", "%%%", "bnVsbA"]) {
    assert.throws(() => positionOf(cursor), { code: "invalid_request" }, cursor);
  }
});
