import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { hours, minutes } from "@signalbox/core";
import { inTransaction, sql, startRetention } from "@signalbox/storage";
import { eventually, testContext } from "@signalbox/testing";
import type { CodePurpose } from "../src/codes/one-time-codes.ts";
import { endCode, issueCode, type RedeemOutcome, redeemCode } from "../src/codes/one-time-codes.ts";
import { retention } from "../src/workers.ts";
import { type OpenContext, openContext } from "./open-context.ts";

let account: OpenContext;
before(async () => {
  account = await openContext();
});
after(() => account.close());

interface Place {
  readonly purpose: CodePurpose;
  readonly subject: string;
}

const fresh = (purpose: CodePurpose = "contact"): Place => ({ purpose, subject: crypto.randomUUID() });
const issue = (place: Place) =>
  inTransaction(account.pool, (tx) => issueCode(account.service, tx, { ...place, accountId: null }));

async function issued(place: Place) {
  const result = await issue(place);
  assert.ok(result !== "too-many");
  return result;
}

const redeem = (place: Place, code: string, { service, pool } = account as Pick<OpenContext, "service" | "pool">) =>
  inTransaction(pool, (tx) => redeemCode(service, tx, { ...place, code }));
/** Returns a wrong code. */
const other = (code: string) => String((Number(code) + 1) % 1e8).padStart(8, "0");

test("a code is good once, typed with blanks or without", async () => {
  const place = fresh();
  const { code } = await issued(place);
  assert.match(code, /^\d{8}$/);
  assert.equal(await redeem(place, `${code.slice(0, 4)} ${code.slice(4)}`), "good");
  assert.equal(await redeem(place, code), "used-up");
});

test("a code serves its one purpose alone", async () => {
  const place = fresh("step-up");
  const { code } = await issued(place);
  assert.equal(await redeem({ ...place, purpose: "sign-in" }, code), "wrong");
  await issued({ ...place, purpose: "contact" });
  assert.equal(await redeem({ ...place, purpose: "contact" }, code), "wrong");
  const neighbour = fresh("step-up");
  await issued(neighbour);
  assert.equal(await redeem(neighbour, code), "wrong");
  assert.equal(await redeem(place, code), "good");
});

for (const [purpose, lifeMs] of [
  ["contact", hours(1)],
  ["step-up", minutes(10)],
  ["sign-in", minutes(10)],
] as const) {
  test(`a code for ${purpose} lives ${lifeMs / 60_000} minutes`, async () => {
    const place = fresh(purpose);
    const [late, early] = [await issued(place), await issued({ ...place, subject: `${place.subject}-2` })];
    assert.equal(late.expiresAt.getTime() - account.clock.nowMs(), lifeMs);
    account.clock.advance(lifeMs - 1);
    assert.equal(await redeem({ ...place, subject: `${place.subject}-2` }, early.code), "good");
    account.clock.advance(1);
    assert.equal(await redeem(place, late.code), "expired");
  });
}

test("five tries end a code, even if the next one is right", async () => {
  const place = fresh();
  const { code } = await issued(place);
  for (let count = 0; count < 5; count++) assert.equal(await redeem(place, other(code)), "wrong");
  assert.equal(await redeem(place, code), "used-up");
});

test("the fifth try may be the right one", async () => {
  const place = fresh();
  const { code } = await issued(place);
  for (let count = 0; count < 4; count++) await redeem(place, other(code));
  assert.equal(await redeem(place, code), "good");
});

test("a hundred tries at once, at two instances, are five", async () => {
  const second = await account.another();
  const place = fresh();
  const { code } = await issued(place);
  const outcomes = await Promise.all(
    Array.from({ length: 100 }, (_, at) => redeem(place, other(code), at % 2 ? account : second)),
  );
  assert.equal(outcomes.filter((outcome) => outcome === "wrong").length, 5);
  assert.equal(outcomes.filter((outcome) => outcome === "used-up").length, 95);
  await second.close();
});

test("of many who hold the right code at once, one gets in", async () => {
  const place = fresh();
  const { code } = await issued(place);
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => redeem(place, code)));
  assert.equal(outcomes.filter((outcome) => outcome === "good").length, 1);
});

test("a try counts even when what it was for is rolled back", async () => {
  const place = fresh();
  const { code } = await issued(place);
  const rolledBack = async (place: Place, given: string): Promise<RedeemOutcome> => {
    let outcome: RedeemOutcome = "wrong";
    const work = inTransaction(account.pool, async (tx) => {
      outcome = await redeemCode(account.service, tx, { ...place, code: given });
      throw new Error("the effect failed");
    });
    await assert.rejects(work, /the effect failed/);
    return outcome;
  };
  assert.equal(await rolledBack(place, code), "good");
  assert.equal(await redeem(place, code), "good");

  const guessed = fresh();
  const second = await issued(guessed);
  for (let count = 0; count < 5; count++) assert.equal(await rolledBack(guessed, other(second.code)), "wrong");
  assert.equal(await redeem(guessed, second.code), "used-up");
});

test("a newer code ends the older one", async () => {
  const place = fresh();
  const [older, newer] = [await issued(place), await issued(place)];
  assert.equal(await redeem(place, older.code), "wrong");
  assert.equal(await redeem(place, newer.code), "good");
});

test("an ended code is used up", async () => {
  const place = fresh();
  const { code } = await issued(place);
  await inTransaction(account.pool, (tx) => endCode(account.service, tx, place));
  assert.equal(await redeem(place, code), "used-up");
});

test("five codes an hour, one after the other or all at once", async () => {
  const place = fresh();
  const results = await Promise.all(Array.from({ length: 12 }, () => issue(place)));
  assert.equal(results.filter((result) => result === "too-many").length, 7);
  account.clock.advance(hours(1) - 1);
  assert.equal(await issue(place), "too-many");
  account.clock.advance(1);
  await issued(place);
});

test("no code is in the database, and what ended a day ago is not there at all", async (t) => {
  const [earlier, place] = [fresh(), fresh()];
  await issued(earlier);
  account.clock.advance(1);
  const { code } = await issued(place);
  await redeem(place, other(code));
  const text = "select row_to_json(t)::text as row from one_time_codes as t where subject = $1";
  const find = async ({ subject }: Place) =>
    (await account.pool.query<{ row: string }>(sql("test.codes", text), [subject])).rows;
  const [row] = await find(place);
  for (const form of [code, Buffer.from(code).toString("hex"), Buffer.from(code).toString("base64")]) {
    assert.ok(!row?.row.includes(form));
  }
  account.clock.advance(hours(25) - 1);
  const { runner, close } = testContext("account", {});
  t.after(close);
  startRetention(
    { ...account, runner },
    retention.map((rule) => ({ ...rule, everyMs: 5 })),
  );
  await eventually(async () => (await find(earlier)).length === 0);
  assert.equal((await find(place)).length, 1);
  account.clock.advance(1);
  await eventually(async () => (await find(place)).length === 0);
});
