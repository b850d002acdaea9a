import assert from "node:assert/strict";
import { test } from "node:test";
import { isAppError } from "@signalbox/core";
import { committingAtOnce } from "./one-statement.ts";
import { type Queryable, sql } from "./prepared-statement.ts";

const change = sql("", "insert into parcels values ($1)");

/** A target that fails with these SQLSTATEs, one after another, and then answers. */
function failingWith(...codes: readonly string[]) {
  const left = [...codes];
  let sent = 0;
  const query = async () => {
    sent++;
    const code = left.shift();
    if (code) throw Object.assign(new Error(code), { code });
    return { rows: [], rowCount: 1 };
  };
  return { pool: { query } as unknown as Queryable, sent: () => sent };
}

test("a statement that loses against a concurrent transaction is sent again, three times at most", async () => {
  const once = failingWith("40P01", "40001");
  assert.equal((await committingAtOnce(once.pool).query(change)).rowCount, 1);
  assert.equal(once.sent(), 3);
  const always = failingWith("40001", "40001", "40001");
  await assert.rejects(committingAtOnce(always.pool).query(change), { code: "40001" });
  assert.equal(always.sent(), 3);
});

test("a lost answer leaves the outcome unknown without a repetition", async () => {
  const lost = failingWith("57P01");
  await assert.rejects(
    committingAtOnce(lost.pool).query(change),
    (error: unknown) => isAppError(error) && error.code === "unavailable" && error.outcome === "unknown",
  );
  assert.equal(lost.sent(), 1);
});

test("any other failure goes to the caller as it is", async () => {
  const refused = failingWith("23514");
  await assert.rejects(committingAtOnce(refused.pool).query(change), { code: "23514" });
  assert.equal(refused.sent(), 1);
});
