import assert from "node:assert/strict";
import { test } from "node:test";
import { isAppError } from "@signalbox/core";
import { z } from "zod";
import { parseQuery } from "./query.ts";

const text = z.string().optional();
const listed = z.object({ limit: text, cursor: text, search: text, created_after: text });

function messageOf(query: string, schema: z.ZodObject | undefined = listed): string | undefined {
  try {
    parseQuery(query, schema);
    return undefined;
  } catch (error) {
    if (!isAppError(error)) throw error;
    return error.details?.[0]?.message;
  }
}

test("a usual guess of a parameter is answered with the right name", () => {
  const guesses = {
    limit: ["page_size", "pageSize", "per_page", "page%5Bsize%5D", "LIMIT", "first"],
    cursor: ["page", "offset", "after", "starting_after", "pageToken", "next_cursor"],
    search: ["q", "query"],
    created_after: ["since", "from", "createdAfter", "created-after"],
  };
  for (const [right, names] of Object.entries(guesses)) {
    for (const name of names)
      assert.equal(messageOf(`${name}=1`), `Is not a parameter of this route. Use ${right}.`, name);
  }
});

test("another unknown parameter is answered with those that there are", () => {
  const all = "They are: limit, cursor, search, created_after.";
  for (const name of ["colour", "__proto__", "constructor", "%20"])
    assert.equal(messageOf(`${name}=1`), `Is not a parameter of this route. ${all}`, name);
  assert.equal(messageOf("page_size=1", z.object({})), "Is not a parameter of this route. It has none.");
  assert.equal(messageOf("limit=1"), undefined);
});
