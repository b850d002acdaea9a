import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AuditEntryResource, scopes } from "@signalbox/contracts";
import { sql } from "@signalbox/storage";
import { eventually } from "@signalbox/testing";
import { type Harness, startAccount } from "./harness.ts";
import { openInside } from "./inside.ts";
import { holdsToIfMatch } from "./stale-validator.ts";

let account: Harness;
before(async () => {
  account = await startAccount();
});
after(() => account.close());

const path = "/api/account/api-keys/";

async function newKey(headers: Record<string, string>, body: object = {}) {
  return account.send("POST", path, { headers, body: { name: "deploy", scopes: ["account:read"], ...body } });
}

test("a new key works in each of its three places", async () => {
  const headers = account.person();
  const { status, headers: answered, body } = await newKey(headers);
  assert.equal(status, 201);
  assert.match(body.key, /^sbx_dev_[0-9A-Za-z]{36}$/);
  assert.equal(answered.get("location"), `/api/account/api-keys/${body.id}`);
  assert.equal(answered.get("cache-control"), "no-store");
  const owner = (await account.send("GET", "/api/account/", { headers })).body.id;
  for (const presented of [
    { "x-api-key": body.key },
    { authorization: `Bearer ${body.key}` },
    { authorization: `Basic ${Buffer.from(`anyone:${body.key}`).toString("base64")}` },
  ]) {
    assert.equal((await account.send("GET", "/api/account/", { headers: presented })).body.id, owner);
  }
  const { key: _, ...shown } = body;
  const read = await account.send("GET", `${path}${body.id}`, { headers });
  assert.deepEqual({ ...read.body, last_used_at: null }, shown);
  assert.ok(body.key.startsWith(shown.hint));
});

test("a key does no more than its scopes say", async () => {
  const headers = account.person();
  const { body } = await newKey(headers);
  const withKey = { "x-api-key": body.key };
  assert.equal((await account.send("PATCH", "/api/account/", { headers: withKey, body: {} })).status, 403);
  assert.equal((await newKey(withKey)).status, 403);
});

test("a key without scopes reads nothing, not even what any credential may read", async () => {
  const { status, body } = await newKey(account.person(), { scopes: [] });
  assert.deepEqual([status, body.scopes], [201, []]);
  const refused = await account.send("GET", "/api/account/", { headers: { "x-api-key": body.key } });
  assert.deepEqual([refused.status, refused.body.error.details[0].code], [403, "client_key"]);
});

test("the key itself is stored nowhere", async () => {
  const headers = account.person();
  const { body } = await newKey(headers);
  await account.send("GET", "/api/account/", { headers: { "x-api-key": body.key } });
  const { id } = (await account.send("GET", "/api/account/", { headers })).body;
  const events = await account.eventsOf(id, 2);
  assert.deepEqual(events.map(({ name }) => name).sort(), ["account.created", "api_key.created"]);
  const written = JSON.stringify([events, account.context.logged], (_key, value) =>
    typeof value === "bigint" ? String(value) : value,
  );
  assert.ok(!written.includes(body.key));
});

test("a key is never wider than its creator", async () => {
  const { status, body } = await newKey(account.person(), { scopes: ["account:read", "account:admin"] });
  assert.equal(status, 422);
  assert.deepEqual(
    body.error.details.map(({ code }: { code: string }) => code),
    ["beyond_creator"],
  );
});

test("scopes and an end that a key cannot have are both named, in REST and in the graph", async () => {
  const headers = account.person();
  const body = { name: "x", scopes: ["account:admin"], expires_at: "2020-01-01T00:00:00Z" };
  const { status, body: answer } = await newKey(headers, body);
  const named = (details: { field: string }[]) => details.map(({ field }) => field);
  assert.deepEqual([status, named(answer.error.details)], [422, ["scopes", "expires_at"]]);
  const text = `mutation { createApiKey(input: { name: "x", scopes: ["account:admin"], expiresAt: "2020-01-01T00:00:00Z" }) {
    errors { field } } }`;
  assert.deepEqual(named((await account.query(headers, text)).data.createApiKey.errors), ["scopes", "expiresAt"]);
});

test("a key is neither created nor rotated once the account's row forbids it, even if the edge has an older state", async () => {
  const headers = account.person();
  const { body } = await newKey(headers);
  const { pool } = openInside(account);
  // Without an event the edge keeps its cached state.
  const suspend = sql("", "update accounts set status = 'suspended' where id = $1");
  await pool.query(suspend, [(await account.send("GET", "/api/account/", { headers })).body.id]);
  const rotated = await account.send("POST", `${path}${body.id}/rotate`, { headers, body: {} });
  for (const answer of [await newKey(headers), rotated]) {
    assert.deepEqual([answer.status, answer.body.error.details[0].code], [403, "account_suspended"]);
  }
  assert.equal((await account.send("GET", path, { headers })).body.items.length, 1);
});

test("a key has a validator that moves with what can be changed, and a client that has it already gets 304", async () => {
  const headers = account.person();
  const made = await newKey(headers);
  const at = `${path}${made.body.id}`;
  const read = (etag: string) => account.send("GET", at, { headers: { ...headers, "if-none-match": etag } });
  const first = made.headers.get("etag") ?? "";
  assert.match(first, /^"[^"]+"$/, "strong");
  assert.deepEqual(
    [(await read(first)).status, (await read(`W/${first}`)).status, (await read('"x"')).status],
    [304, 304, 200],
  );
  const renamed = await account.send("PATCH", at, { headers, body: { name: "other" } });
  const second = renamed.headers.get("etag") ?? "";
  assert.deepEqual([(await read(first)).status, (await read(second)).status], [200, 304]);
  const unchanged = await account.send("PATCH", at, { headers, body: { name: "other" } });
  assert.equal(unchanged.headers.get("etag"), second);
});

test("the use of a key leaves its validator, so a key in use is changed under If-Match", async () => {
  const headers = account.person();
  const made = await newKey(headers);
  const at = `${path}${made.body.id}`;
  const etag = made.headers.get("etag") ?? "";
  await account.send("GET", "/api/account/", { headers: { "x-api-key": made.body.key } });
  await eventually(async () => (await account.send("GET", at, { headers })).body.last_used_at !== null);
  assert.equal((await account.send("GET", at, { headers })).headers.get("etag"), etag);
  const conditional = { ...headers, "if-match": etag };
  assert.equal((await account.send("PATCH", at, { headers: conditional, body: { name: "other" } })).status, 200);
});

test("a stale validator neither renames, rotates nor revokes a key", async () => {
  const headers = account.person();
  const made = await newKey(headers);
  const at = `${path}${made.body.id}`;
  await holdsToIfMatch(account, { headers, at, rotateAt: `${at}/rotate`, etag: made.headers.get("etag") ?? "" });
});

test("the second of two writers who read the same key is refused", async () => {
  const headers = account.person();
  const made = await newKey(headers);
  const conditional = { ...headers, "if-match": made.headers.get("etag") ?? "" };
  const rename = (name: string) =>
    account.send("PATCH", `${path}${made.body.id}`, { headers: conditional, body: { name } });
  const answers = await Promise.all([rename("one"), rename("two")]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
});

test("what a new key lacks is 400, what is wrong with it is 422", async () => {
  const headers = account.person();
  const send = (body: object) => account.send("POST", path, { headers, body });
  assert.equal((await send({})).status, 400);
  assert.equal((await send({ name: "x" })).status, 400);
  for (const wrong of [
    { name: "x", scopes: ["everything"] },
    { name: "", scopes: ["account:read"] },
    { name: "x", scopes: ["account:read"], expires_at: "tomorrow" },
    { name: "x", scopes: ["account:read"], expires_at: "2020-01-01T00:00:00Z" },
    { name: "x", scopes: ["account:read"], roles: ["admin"] },
  ]) {
    assert.equal((await send(wrong)).status, 422, JSON.stringify(wrong));
  }
});

test("a change of keys needs a recent sign-in", async () => {
  const longAgo = Math.floor(account.context.clock.nowMs() / 1000) - 901;
  const { status, body } = await newKey(account.person({ auth_time: longAgo }));
  assert.equal(status, 403);
  assert.equal(body.error.details[0].code, "step_up_required");
});

test("a request repeated under its Idempotency-Key shows the same key", async () => {
  const headers = { ...account.person(), "idempotency-key": crypto.randomUUID() };
  const [first, again] = [await newKey(headers), await newKey(headers)];
  assert.deepEqual([again.status, again.body], [201, first.body]);
  const list = await account.send("GET", path, { headers: { authorization: headers.authorization } });
  assert.equal(list.body.items.length, 1);
});

test("a revoked key is refused at once, even from a cache", async () => {
  const headers = account.person();
  const { body } = await newKey(headers);
  const withKey = { "x-api-key": body.key };
  const { id } = (await account.send("GET", "/api/account/", { headers: withKey })).body;
  assert.equal((await account.send("DELETE", `${path}${body.id}`, { headers })).status, 204);
  await eventually(async () => (await account.send("GET", "/api/account/", { headers: withKey })).status === 401, {
    timeoutMs: 2000,
    message: "the key is refused within two seconds",
  });
  assert.equal((await account.send("DELETE", `${path}${body.id}`, { headers })).status, 204);
  const read = await account.send("GET", `${path}${body.id}`, { headers });
  assert.equal(read.body.status, "revoked");

  const events = await account.eventsOf(id, 4);
  const byName = Object.fromEntries(events.map((event) => [event.name, event]));
  assert.deepEqual(Object.keys(byName).sort(), [
    "access.changed",
    "account.created",
    "api_key.created",
    "api_key.revoked",
  ]);
  assert.equal(byName["access.changed"]?.subject, `key:${body.id}`);
  assert.equal(events.length, 4, "revoking twice says it once");
});

test("a key can revoke itself with any scopes, even while the account is suspended", async () => {
  const administrator = { "x-api-key": await account.firstKey() };
  for (const state of ["active", "suspended"]) {
    const headers = account.person();
    const [lost, other] = [(await newKey(headers)).body, (await newKey(headers)).body];
    const { id } = (await account.send("GET", "/api/account/", { headers })).body;
    if (state === "suspended") {
      const body = { status: state, reason: "spam" };
      await account.send("POST", `/api/accounts/${id}/status`, { headers: administrator, body });
    }
    const finder = { "x-api-key": lost.key };
    const end = () => account.send("DELETE", "/api/account/current-api-key/", { headers: finder });
    assert.equal((await end()).status, 204);
    await eventually(async () => (await end()).status === 401);
    const left = (await account.send("GET", path, { headers })).body.items;
    const statuses = Object.fromEntries(left.map((key: { id: string; status: string }) => [key.id, key.status]));
    assert.deepEqual(statuses, { [lost.id]: "revoked", [other.id]: "active" });
    const { items } = (await account.send("GET", "/api/account/audit/", { headers })).body;
    const entry = items.find(({ action }: AuditEntryResource) => action === "api_key.revoke");
    assert.deepEqual([entry.subject, entry.actor.credential], [lost.id, lost.id]);
  }
});

test("a key past its end is refused", async () => {
  const headers = account.person();
  const soon = new Date(account.context.clock.nowMs() + 3_000).toISOString();
  const { body } = await newKey(headers, { expires_at: soon });
  await eventually(
    async () => (await account.send("GET", "/api/account/", { headers: { "x-api-key": body.key } })).status === 401,
  );
  assert.equal((await account.send("GET", `${path}${body.id}`, { headers })).body.status, "expired");
});

test("the list is walked page by page, newest first, without gaps or repetitions", async () => {
  const headers = account.person();
  const made: string[] = [];
  for (let count = 0; count < 5; count++) made.unshift((await newKey(headers)).body.id);
  const walked: string[] = [];
  let query = "?limit=2";
  for (;;) {
    const { body } = await account.send("GET", `${path}${query}`, { headers });
    walked.push(...body.items.map(({ id }: { id: string }) => id));
    assert.equal("next_cursor" in body, body.has_more);
    if (!body.has_more) break;
    query = `?limit=2&cursor=${body.next_cursor}`;
  }
  assert.deepEqual([...walked].sort(), [...made].sort());
  assert.equal(walked.length, 5);
});

test("a foreign cursor is 400", async () => {
  const headers = account.person();
  const forged = Buffer.from(JSON.stringify([0, "key_\u0000"])).toString("base64url");
  for (const query of [
    `?cursor=${forged}`,
    "?limit=0",
    "?limit=101",
    "?limit=x",
    "?cursor=abc",
    "?page=2",
    "?limit=1&limit=2",
  ]) {
    assert.equal((await account.send("GET", path + query, { headers })).status, 400, query);
  }
});

test("the first key of a house carries every scope", async () => {
  const [key, another] = [await account.firstKey(), await account.firstKey()];
  assert.notEqual(key, another);
  const ids = await Promise.all(
    [key, another].map(
      async (each) => (await account.send("GET", "/api/account/", { headers: { "x-api-key": each } })).body,
    ),
  );
  assert.equal(ids[0].id, ids[1].id);
  assert.equal(ids[0].status, "active");
  const { body } = await account.sendInternal("/internal/principals", { kind: "api-key", value: key });
  assert.deepEqual([...body.scopes].sort(), [...scopes].sort());
  assert.deepEqual(body.roles, ["admin"]);
  const { items } = (await account.send("GET", "/api/account/audit/", { headers: { "x-api-key": key } })).body;
  const grants = items.filter(({ action }: { action: string }) => action === "account.grant_role");
  const told = grants.map(({ fields, actor }: AuditEntryResource) => [...fields, actor.kind, actor.credential]);
  assert.deepEqual(told, [["roles", "administrator", "first-key"]], "granted once, and written down");
  const made = items.filter(({ action }: { action: string }) => action === "api_key.create");
  const makers = new Set(made.map(({ actor }: AuditEntryResource) => `${actor.kind} by ${actor.credential}`));
  assert.deepEqual([...makers], ["administrator by first-key"]);
});
