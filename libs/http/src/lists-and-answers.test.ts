import assert from "node:assert/strict";
import type { IncomingHttpHeaders } from "node:http";
import { test } from "node:test";
import { internalTokenHeader } from "@signalbox/auth";
import { isAppError } from "@signalbox/core";
import fc from "fast-check";
import { z } from "zod";
import { serveTest, testContext } from "../test/edge-fixture.ts";
import { createInternalApp } from "./app/create-internal-app.ts";
import { ExportPage, exportPathOf, exportRoutes } from "./export/export-routes.ts";
import { cursorMark, cursorOf, positionOf, rangeOf } from "./lists/pagination.ts";
import { etagOfAnswer, ifMatch, isNotModified, strongEtag } from "./responses/etag.ts";

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

test("a cursor is taken only by the list and the filters that gave it", () => {
  const place = { at: new Date("2026-01-02T03:04:05.678Z"), id: "img_1", key: "Hafen.jpg" };
  const mark = cursorMark("images", { tag: "sea", status: undefined });
  assert.equal(mark, cursorMark("images", { tag: "sea" }), "an absent filter is none");
  assert.equal(
    cursorMark("images", { tag: "sea", status: "ready" }),
    cursorMark("images", { status: "ready", tag: "sea" }),
    "in any order",
  );
  const cursor = cursorOf(place, mark);
  assert.deepEqual(positionOf(cursor, mark), place);
  for (const other of [undefined, cursorMark("images", {}), cursorMark("uploads", { tag: "sea" })]) {
    assert.throws(() => positionOf(cursor, other), { code: "invalid_request" }, other);
  }
  const { key: _, ...unordered } = place;
  assert.deepEqual(positionOf(cursorOf(unordered), mark), unordered, "cursors of earlier versions have no mark");
});

test("a forged cursor is refused before it reaches a database", () => {
  const forged = [
    ["2026-01-02T03:04:05.678Z", "img_\0"],
    ["2026-01-02T03:04:05.678Z", "\ud800"],
    ["2026-01-02T03:04:05.678Z", ""],
    ["yesterday", "img_1"],
    ["2026-01-02T03:04:05.678Z"],
    ["2026-01-02T03:04:05.678Z", "img_1", "short"],
    ["2026-01-02T03:04:05.678Z", "img_1", "12345678", "a\0"],
    ["2026-01-02T03:04:05.678Z", "img_1", "12345678", "\ud800"],
    ["2026-01-02T03:04:05.678Z", "img_1", "12345678", { toString: 1 }],
  ].map((forgery) => Buffer.from(JSON.stringify(forgery)).toString("base64url"));
  for (const cursor of [...forged, "", "%%%", "bnVsbA"]) {
    assert.throws(() => positionOf(cursor, "12345678"), { code: "invalid_request" }, cursor);
  }
});

test("every position survives its cursor; any other text is refused or a valid position", () => {
  const place = fc.record(
    {
      at: fc.date({ min: new Date(0), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true }),
      id: fc.stringMatching(/^[\w.:-]{1,128}$/),
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
        assert.match(found?.id ?? "", /^[\w.:-]{1,128}$/);
      } catch (error) {
        assert.equal((error as { code?: string }).code, "invalid_request");
      }
    }),
  );
});

const etag = '"abc"';

test("If-None-Match is a list of strong or weak tags, or a star", () => {
  const matches = (header: string) => isNotModified({ headers: { "if-none-match": header } }, etag);
  for (const header of ['"abc"', 'W/"abc"', '"x", "abc"', 'W/"x" , W/"abc"', "*", " * ", '"a,b", "abc"', '"x","abc"']) {
    assert.equal(matches(header), true, header);
  }
  for (const header of ['"abcd"', "abc", '"ab"', '"x, abc"', "", '"ABC"', 'w/"x"']) {
    assert.equal(matches(header), false, header);
  }
  assert.equal(isNotModified({ headers: {} }, etag), false);
});

test("If-Modified-Since counts only as an HTTP date, without If-None-Match, where a time of change is known", () => {
  const changed = "Tue, 06 Jan 2026 08:49:37 GMT";
  const matches = (headers: IncomingHttpHeaders, lastModified?: string) =>
    isNotModified({ headers }, etag, lastModified);
  for (const since of [changed, "Tuesday, 06-Jan-26 08:49:37 GMT", "Tue Jan  6 08:49:37 2026"])
    assert.equal(matches({ "if-modified-since": since }, changed), true, since);
  for (const since of [
    "Tue, 06 Jan 2026 08:49:36 GMT",
    "2027-01-01",
    "1798761600000",
    "Tue, 99 Jan 2027 08:49:37 GMT",
    "",
  ])
    assert.equal(matches({ "if-modified-since": since }, changed), false, since);
  assert.equal(matches({ "if-modified-since": changed }), false);
  assert.equal(matches({ "if-modified-since": changed, "if-none-match": '"other"' }, changed), false);
  const earlier = { "if-modified-since": "Tue, 06 Jan 2026 08:49:36 GMT" };
  assert.equal(matches({ ...earlier, "if-none-match": etag }, changed), true);
});

test("If-Match compares strongly: a weak tag never matches, a star always does", () => {
  const refuses = (header: string) => {
    try {
      ifMatch({ headers: { "if-match": header } }, etag);
      return false;
    } catch (error) {
      assert.ok(isAppError(error) && error.code === "conflict");
      return true;
    }
  };
  for (const header of ['"abc"', '"x", "abc"', "*"]) assert.equal(refuses(header), false, header);
  for (const header of ['W/"abc"', '"x"', "abc", ""]) assert.equal(refuses(header), true, header);
  assert.doesNotThrow(() => ifMatch({ headers: {} }, etag));
});

test("an answer that shows more than its resource has a validator of all that it shows", () => {
  const own = strongEtag(7, "endpoint");
  const [before, now] = [etagOfAnswer(own, { held: 0 }), etagOfAnswer(own, { held: 1 })];
  assert.equal(isNotModified({ headers: { "if-none-match": before } }, now), false);
  assert.equal(isNotModified({ headers: { "if-none-match": now } }, now), true);
  for (const header of [own, before, now]) assert.doesNotThrow(() => ifMatch({ headers: { "if-match": header } }, own));
  const other = etagOfAnswer(strongEtag(8, "endpoint"), { held: 0 });
  assert.throws(() => ifMatch({ headers: { "if-match": other } }, own));
});

test("a validator is a strong tag of revision, view and media type alone", () => {
  assert.match(strongEtag(7, "owner"), /^"[\w-]{22}"$/);
  assert.equal(strongEtag(7, "owner"), strongEtag(7n, "owner", "application/json"));
  const others = [strongEtag(8, "owner"), strongEtag(7, "public"), strongEtag(7, "owner", "image/webp")];
  assert.equal(new Set([strongEtag(7, "owner"), ...others]).size, 4);
});

const item = z.object({ id: z.string(), owner: z.string() });

/** A service with 250 rows for every account, each with a secret. */
const routes = exportRoutes({
  item,
  async list(owner, { after, limit }) {
    const from = after === null ? 0 : Number(after.id) + 1;
    const rows = Array.from({ length: 250 }, (_, id) => ({
      id: String(id),
      owner,
      secret: "s",
      createdAt: new Date(0),
    }));
    return rows.slice(from, from + limit);
  },
  view: ({ createdAt: _, ...row }) => row,
});

test("the export of an account comes in pages, with only the members of its schema", async (t) => {
  const { url } = await serveTest(t, createInternalApp({ context: testContext().context, routes, tokens: ["token"] }));
  const get = async (cursor?: string) => {
    const response = await fetch(url + exportPathOf("acc_1", cursor), {
      headers: { [internalTokenHeader]: "token" },
    });
    assert.equal(response.status, 200);
    return ExportPage.parse(await response.json());
  };
  const pages = [await get()];
  for (let cursor = pages[0]?.next_cursor; cursor !== undefined; cursor = pages.at(-1)?.next_cursor) {
    pages.push(await get(cursor));
  }
  assert.deepEqual(
    pages.map(({ items, has_more }) => [items.length, has_more]),
    [
      [100, true],
      [100, true],
      [50, false],
    ],
  );
  const items = pages.flatMap((page) => page.items);
  assert.deepEqual(
    items,
    Array.from({ length: 250 }, (_, id) => ({ id: String(id), owner: "acc_1" })),
  );
});

test("an export needs the internal token", async (t) => {
  const { url } = await serveTest(t, createInternalApp({ context: testContext().context, routes, tokens: ["token"] }));
  assert.equal((await fetch(url + exportPathOf("acc_1"))).status, 401);
});
