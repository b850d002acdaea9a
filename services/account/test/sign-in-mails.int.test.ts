import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { hours, isAppError } from "@signalbox/core";
import { inTransaction, sql } from "@signalbox/storage";
import { answerSignInMails, countSignInMail } from "../src/sign-ins/sign-in-mails.ts";
import { type OpenContext, openContext } from "./open-context.ts";

let account: OpenContext;
before(async () => {
  account = await openContext();
});
after(() => account.close());

const own = () => `${crypto.randomUUID()}@example.org`;
async function count(
  address: string,
  client: string,
  { signIn = crypto.randomUUID() as string, knownBrowser = "" } = {},
): Promise<boolean> {
  const isCounted = () =>
    inTransaction(account.pool, (tx) =>
      countSignInMail(account.service, tx, address, { signIn, client, knownBrowser: knownBrowser || null }),
    );
  // On a busy machine a row may be locked for longer than a statement waits. Nothing is counted then, and callers ask again.
  for (let tries = 0; tries < 20; tries++) {
    try {
      return await isCounted();
    } catch (error) {
      if (!isAppError(error) || error.code !== "unavailable") throw error;
    }
  }
  return await isCounted();
}

test("of many requests at once, from as many places, an address is mailed fifteen times, and again after an hour", async () => {
  const address = own();
  const askAll = async () => {
    const counted = await Promise.all(Array.from({ length: 30 }, () => count(address, crypto.randomUUID())));
    return counted.filter(Boolean).length;
  };
  assert.equal(await askAll(), 15);
  account.clock.advance(hours(1) - 1);
  assert.equal(await askAll(), 0);
  account.clock.advance(1);
  assert.equal(await askAll(), 15);
});

test("mails that somebody signed in with are not held against the place they were asked for from", async () => {
  const client = crypto.randomUUID();
  for (let person = 0; person < 100; person++) {
    const signIn = crypto.randomUUID();
    assert.equal(await count(own(), client, { signIn }), true);
    await inTransaction(account.pool, (tx) => answerSignInMails(account.service, tx, signIn));
  }
  for (let person = 0; person < 60; person++) assert.equal(await count(own(), client), true);
  assert.equal(await count(own(), client), false);
});

test("each known browser of an account has mails of its own", async () => {
  const address = own();
  const askFrom = async (knownBrowser: string, times: number) => {
    const counted: boolean[] = [];
    for (let time = 0; time < times; time++) counted.push(await count(address, "anywhere", { knownBrowser }));
    return counted.filter(Boolean).length;
  };
  await Promise.all(Array.from({ length: 20 }, () => count(address, crypto.randomUUID())));
  assert.deepEqual([await askFrom("first", 7), await askFrom("second", 7), await askFrom("third", 7)], [5, 1, 1]);
});

test("no stored row reveals an address, a browser or a client address", async () => {
  const [address, client, knownBrowser] = [own(), "198.51.100.200", "browser-of-somebody"];
  await count(address, client);
  await count(address, client, { knownBrowser });
  const statement = sql("test.sign-in-mails", "select row_to_json(t)::text as row from sign_in_mails as t");
  const { rows } = await account.pool.query<{ row: string }>(statement);
  const text = rows.map(({ row }) => row).join();
  for (const secret of [address, client, knownBrowser]) {
    for (const form of [secret, Buffer.from(secret).toString("hex")]) assert.ok(!text.includes(form));
  }
});
