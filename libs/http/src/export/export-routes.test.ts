import assert from "node:assert/strict";
import test from "node:test";
import { internalTokenHeader } from "@signalbox/auth";
import { z } from "zod";
import { createInternalApp } from "../app/create-internal-app.ts";
import { serveTest, testContext } from "../edge-fixture.ts";
import { ExportPage, exportPathOf, exportRoutes } from "./export-routes.ts";

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

test("the export of an account comes in pages, with the members of its schema and no others", async (t) => {
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
    Array.from({ length: 250 }, (_, id) => ({ id: String(id), owner: "acc_1" })),
  );
});

test("an export needs the internal token", async (t) => {
  const { url } = await serveTest(t, createInternalApp({ context: testContext().context, routes, tokens: ["token"] }));
  assert.equal((await fetch(url + exportPathOf("acc_1"))).status, 401);
});
