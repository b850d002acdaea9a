import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "@signalbox/core";
import { atStart } from "./at-start.ts";

const log = { warn: () => {} };
const away = () => new AppError("unavailable", "The service cannot reach its database right now.");

/** Work that fails this many times before it succeeds. */
function failing(times: number, error: () => Error) {
  let tries = 0;
  return {
    tries: () => tries,
    work: async () => {
      if (++tries <= times) throw error();
      return "done";
    },
  };
}

test("a short outage of the database does not end a start", async () => {
  const { work, tries } = failing(2, away);
  assert.equal(await atStart(work, { waitMs: 60_000, log }), "done");
  assert.equal(tries(), 3);
});

test("a lasting outage ends a start, and every other failure ends it at once", async () => {
  await assert.rejects(atStart(failing(9, away).work, { waitMs: 0, log }), /cannot reach/);
  const broken = failing(1, () => new Error("syntax error"));
  await assert.rejects(atStart(broken.work, { waitMs: 60_000, log }), /syntax error/);
  assert.equal(broken.tries(), 1);
});
