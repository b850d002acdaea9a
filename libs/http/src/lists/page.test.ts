import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cursorOf, positionOf, rangeOf } from "./page.ts";

test("a list in memory is paged in its order, even when the last shown item is gone", () => {
  const position = ({ id, at }: { id: string; at: number }) => ({ id, at: new Date(at) });
  const rows = [
    { id: "b", at: 1 },
    { id: "c", at: 2 },
    { id: "a", at: 1 },
  ];
  const ids = (after: { id: string; at: number } | null, of = rows) =>
    rangeOf(of, { after: after && position(after), limit: 2 }, position).map(({ id }) => id);
  assert.deepEqual(ids(null), ["a", "b"]);
  assert.deepEqual(ids({ id: "b", at: 1 }), ["c"]);
  const withoutB = rows.filter(({ id }) => id !== "b");
  assert.deepEqual(ids({ id: "b", at: 1 }, withoutB), ["c"]);
  assert.deepEqual(ids({ id: "c", at: 2 }), []);
});

test("a cursor decodes to the position that it was made from", () => {
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

test("every position survives its cursor, and any other text is refused or a valid position", () => {
  const place = fc.record(
    {
      at: fc.date({ min: new Date(0), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true }),
      id: fc.stringMatching(/^[\w.-]{1,128}$/),
    },
    { noNullPrototype: true },
  );
  fc.assert(fc.property(place, (one) => assert.deepEqual(positionOf(cursorOf(one)), one)));
  const text = fc.oneof(
    fc.string(),
    fc.json().map((json) => Buffer.from(json).toString("base64url")),
  );
  fc.assert(
    fc.property(text, (cursor) => {
      try {
        const found = positionOf(cursor);
        assert.match(found?.id ?? "", /^[\w.-]{1,128}$/);
      } catch (error) {
        assert.equal((error as { code?: string }).code, "invalid_request");
      }
    }),
  );
});
