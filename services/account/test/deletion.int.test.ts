import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createManualClock, hours } from "@signalbox/core";
import { createOutbox } from "@signalbox/events";
import { createMetrics, createTracer } from "@signalbox/runtime";
import { openPool, type Pool } from "@signalbox/storage";
import { eventually } from "@signalbox/testing";
import type { AccountService } from "../src/context/account-service.ts";
import { purgeDueAccounts } from "../src/deletion/account-purge.ts";
import { openAccountService } from "../src/open-account-service.ts";
import { type Harness, startAccount } from "./harness.ts";
import { rowsWith } from "./rows-with.ts";

const path = "/api/account/";
const clock = createManualClock(new Date());
let account: Harness;
let administrator: Record<string, string>;
let purgeAccounts: () => Promise<number>;
let inside: AccountService;
let pool: Pool;

before(async () => {
  account = await startAccount();
  administrator = { "x-api-key": await account.firstKey() };
  const { log, configuration, runner } = account.context;
  const metrics = createMetrics({ service: "account" });
  const url = configuration.get("database.url");
  pool = openPool({ url, max: 4, applicationName: "deletion-tests", log, metrics, runner });
  const tracer = createTracer("account");
  const outbox = createOutbox({ pool, service: "account", log, metrics, clock, tracer, maxBytes: 1_000_000 });
  inside = openAccountService({ ...account.context, clock }, { pool, outbox });
  purgeAccounts = () => purgeDueAccounts(inside);
});
after(() => account.close());

const remove = (headers: Record<string, string>) => account.send("DELETE", path, { headers });
const get = (headers: Record<string, string>, at = path) => account.send("GET", at, { headers });
const undo = (id: string) =>
  account.send("POST", `/api/accounts/${id}/status`, {
    headers: administrator,
    body: { status: "active", reason: "asked by phone" },
  });
const aboutPerson = () => ({
  sub: crypto.randomUUID(),
  name: `Name ${crypto.randomUUID()}`,
  email: `${crypto.randomUUID()}@example.org`,
  email_verified: true,
});

test("the owner deletes the account with a recent sign-in alone, and nothing works any more", async () => {
  const claims = aboutPerson();
  const { id } = (await get(account.person(claims))).body;
  const longAgo = Math.floor(account.context.clock.nowMs() / 1000) - 901;
  const refused = await remove(account.person({ ...claims, auth_time: longAgo }));
  assert.deepEqual([refused.status, refused.body.error.details[0].code], [403, "step_up_required"]);

  const headers = account.person(claims);
  const deleted = await remove(headers);
  assert.deepEqual([deleted.status, deleted.body], [204, null]);
  await eventually(async () => (await get(headers)).status === 403, { timeoutMs: 2000 });
  const seen = (await get(administrator, `/api/accounts/${id}`)).body;
  assert.deepEqual([seen.status, seen.status_changed_by, seen.purged_at], ["deleted", "owner", null]);
});

test("an owner who has turned the account off can still delete it, with a recent sign-in; a suspended one can not", async () => {
  const claims = { sub: crypto.randomUUID() };
  const headers = account.person(claims);
  const { id } = (await get(headers)).body;
  await account.send("POST", "/api/account/status/", { headers, body: { status: "disabled" } });
  await eventually(async () => (await account.send("PATCH", path, { headers, body: {} })).status === 403);
  const longAgo = Math.floor(account.context.clock.nowMs() / 1000) - 901;
  const refused = await remove(account.person({ ...claims, auth_time: longAgo }));
  assert.deepEqual([refused.status, refused.body.error.details[0].code], [403, "step_up_required"]);
  assert.equal((await remove(headers)).status, 204);
  const seen = (await get(administrator, `/api/accounts/${id}`)).body;
  assert.deepEqual([seen.status, seen.status_changed_by], ["deleted", "owner"]);

  const other = account.person();
  const body = { status: "suspended", reason: "spam" };
  await account.send("POST", `/api/accounts/${(await get(other)).body.id}/status`, { headers: administrator, body });
  assert.deepEqual(
    await eventually(async () => {
      const { status, body } = await remove(other);
      return status === 403 && body.error.details[0].code;
    }),
    "account_suspended",
  );
});

test("an API key with account:security deletes its account, one without it does not", async () => {
  const headers = account.person();
  const keyWith = async (scopes: string[]) => {
    const body = { name: "key", scopes };
    return (await account.send("POST", "/api/account/api-keys/", { headers, body })).body.key;
  };
  assert.equal((await remove({ "x-api-key": await keyWith(["account:write"]) })).status, 403);
  assert.equal((await remove({ "x-api-key": await keyWith(["account:security"]) })).status, 204);
});

test("an administrator undoes a deletion until the retention is over, and everything is as it was", async () => {
  const claims = aboutPerson();
  const headers = account.person(claims);
  const { id } = (await get(headers)).body;
  await remove(headers);
  clock.set(new Date());
  clock.advance(hours(24 * 30) - 60_000);
  await purgeAccounts();
  assert.equal((await undo(id)).status, 200);
  await eventually(async () => (await get(headers)).status === 200);
  const { display_name, contact_address, status } = (await get(headers)).body;
  assert.deepEqual([display_name, contact_address, status], [claims.name, claims.email, "active"]);
});

/** The pool, except that a test makes something happen around its statements. */
const poolWith = (query: Pool["query"]): Pool => ({ ...pool, query });

async function deletedAccount(headers: Record<string, string>): Promise<string> {
  const { id } = (await get(headers)).body;
  await remove(headers);
  clock.set(new Date());
  clock.advance(hours(24 * 30));
  return id;
}

test("an undo that comes while the audit is being erased is refused, so no account lives on without its audit", async () => {
  const id = await deletedAccount(account.person());
  let undone: number | undefined;
  const undoing = poolWith(async (statement, values) => {
    if (statement.text.startsWith("update audit_entries") && values?.[0] === id) undone ??= (await undo(id)).status;
    return pool.query(statement, values);
  });
  await purgeDueAccounts({ ...inside, pool: undoing });
  assert.equal(undone, 409);
  assert.notEqual((await get(administrator, `/api/accounts/${id}`)).body.purged_at, null);
});

test("an undo that comes just before a purge wins, and leaves the account and its audit whole", async () => {
  const headers = account.person();
  const id = await deletedAccount(headers);
  const undoing = poolWith(async (statement, values) => {
    const found = await pool.query<{ id: string }>(statement, values);
    const isDue = statement.name === "purge.find-due" && found.rows[0]?.id === id;
    if (isDue) assert.equal((await undo(id)).status, 200);
    return found as never;
  });
  await purgeDueAccounts({ ...inside, pool: undoing });
  await eventually(async () => (await get(headers)).status === 200);
  const { items } = (await get(administrator, `/api/accounts/${id}/audit/`)).body;
  assert.ok(items.every(({ actor }: { actor: { credential: string } }) => actor.credential !== "erased"));
});

test("a purge that was cut off goes on, also when the retention has been made longer meanwhile", async () => {
  const id = await deletedAccount(account.person());
  const outbox = { ...inside.outbox, append: () => Promise.reject(new Error("the process dies")) };
  await assert.rejects(purgeDueAccounts({ ...inside, outbox }), /dies/);
  assert.equal((await undo(id)).status, 409);
  clock.set(new Date());
  await purgeAccounts();
  assert.notEqual((await get(administrator, `/api/accounts/${id}`)).body.purged_at, null);
});

test("after the retention no personal data is left, other services learn of it once, and the identity starts anew", async () => {
  const claims = aboutPerson();
  const headers = account.person(claims);
  const { id, created_at } = (await get(headers)).body;
  const key = { name: `Key of ${claims.name}`, scopes: ["account:read"] };
  const { id: keyId } = (await account.send("POST", "/api/account/api-keys/", { headers, body: key })).body;
  const wanted = `${crypto.randomUUID()}@example.org`;
  await account.send("PATCH", path, { headers, body: { contact_address: wanted } });
  await account.mailbox.leave();
  await account.send("POST", "/api/account/step-up/", { headers, body: {} });
  assert.notDeepEqual(await rowsWith(pool, id), []);
  await remove(headers);
  clock.set(new Date());
  clock.advance(hours(24 * 30));
  const counts = await Promise.all([purgeAccounts(), purgeAccounts()]);
  assert.ok(counts.reduce((sum, count) => sum + count) >= 1);
  assert.equal(await purgeAccounts(), 0, "nothing is purged twice");

  for (const word of [claims.sub, claims.name, claims.email, wanted, keyId])
    assert.deepEqual(await rowsWith(pool, word), []);
  const kept = new Set((await rowsWith(pool, id)).map((row) => row.split(" ", 1)[0]?.replace(/_p?\d+.*$/, "")));
  assert.deepEqual(
    [...kept].sort(),
    ["access_entries", "accounts", "audit_entries"],
    "no mail, code, link or step-up stays",
  );
  const tombstone = (await get(administrator, `/api/accounts/${id}`)).body;
  assert.deepEqual([tombstone.status, tombstone.created_at], ["deleted", created_at]);
  assert.equal(tombstone.purged_at, clock.now().toISOString());
  assert.deepEqual([(await undo(id)).status, (await undo(id)).body.error.code], [409, "conflict"]);

  const told = await account.eventsOf(id, 1, "account.deleted");
  const deleted_at = clock.now().toISOString();
  assert.deepEqual(
    told.map(({ data }) => data),
    [{ id, created_at, deleted_at, changed: [] }],
  );
  const anew = await eventually(async () => {
    const answer = await get(headers);
    return answer.status === 200 && answer.body;
  });
  assert.notEqual(anew.id, id);
});
