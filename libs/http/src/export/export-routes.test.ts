import assert from "node:assert/strict";
import test from "node:test";
import { internalTokenHeader } from "@signalbox/auth";
import { z } from "zod";
import { createInternalApp } from "../app/create-internal-app.ts";
import { serveTest, testContext } from "../edge-fixture.ts";
import { readCursor, writeCursor } from "../lists/cursor.ts";
import { ExportPage, exportPathOf, exportRoutes } from "./export-routes.ts";

const item = z.object({ id: z.int(), owner: z.string() });
const Position = z.tuple([z.int()]);

/** A service that holds 250 rows for every account, each with a secret. */
const routes = exportRoutes({
  item,
  async list(owner, { cursor, limit }) {
    const from = cursor === undefined ? 0 : readCursor(cursor, Position)[0] + 1;
    const rows = Array.from({ length: 250 }, (_, id) => ({ id, owner, secret: "s" }));
    return rows.slice(from, from + limit + 1);
  },
  view: (row) => row,
  cursorOf: ({ id }) => writeCursor([id]),
});

test("what a service holds for an account is walked page by page, with the members that its schema names and no others", async (t) => {
  const { url } = await serveTest(t, createInternalApp({ context: testContext().context, routes, tokens: ["token"] }));
  const get = async (cursor?: string) => {
    const response = await fetch(url + exportPathOf("acc_1", cursor), { headers: { [internalTokenHeader]: "token" } });
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
    Array.from({ length: 250 }, (_, id) => ({ id, owner: "acc_1" })),
  );
});

test("nobody is told anything without the internal token", async (t) => {
  const { url } = await serveTest(t, createInternalApp({ context: testContext().context, routes, tokens: ["token"] }));
  assert.equal((await fetch(url + exportPathOf("acc_1"))).status, 401);
});
