import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { EventName } from "@signalbox/contracts";
import { hours, minutes, seconds } from "@signalbox/core";
import type { ReceivedEvent } from "@signalbox/events";
import { inTransaction } from "@signalbox/storage";
import { eventually } from "@signalbox/testing";
import { apiKeyKind, apiKeyStore } from "../src/credentials/api-key.ts";
import { announceExpired } from "../src/credentials/credentials.ts";
import { startElsewhere } from "./elsewhere.ts";
import { type Harness, startAccount } from "./harness.ts";
import { openInside } from "./inside.ts";

let account: Harness;
before(async () => {
  account = await startAccount({ "account.api-keys.max": 3 });
});
after(() => account.close());

const path = "/api/account/api-keys/";
type Headers = Record<string, string>;

async function newKey(headers: Headers, more: object = {}) {
  const body = { name: "deploy", scopes: ["account:read"], ...more };
  const answer = await account.send("POST", path, { headers, body });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
}
const rotate = (headers: Headers, id: string, body: object = {}) =>
  account.send("POST", `${path}${id}/rotate`, { headers, body });
const read = async (headers: Headers, id: string) => (await account.send("GET", path + id, { headers })).body;
const statusWith = async (key: string) =>
  (await account.send("GET", "/api/account/", { headers: { "x-api-key": key } })).status;
const idOf = async (headers: Headers): Promise<string> =>
  (await account.send("GET", "/api/account/", { headers })).body.id;

/** The events and state records of one key so far. */
async function saidOf(headers: Headers, keyId: string, count: number): Promise<ReceivedEvent<EventName>[]> {
  const id = await idOf(headers);
  return eventually(async () => {
    const events = (await account.eventsOf(id, 1)).filter(({ subject }) => subject.endsWith(keyId));
    return events.length >= count && events;
  });
}
// biome-ignore lint/suspicious/noExplicitAny: each test asserts the members it reads.
const dataOf = (event: ReceivedEvent<EventName> | undefined): any => event?.data;

test("a key is renamed, and the same name leaves no trace and needs no recent sign-in", async () => {
  const sub = crypto.randomUUID();
  const headers = account.person({ sub });
  const { id, key: _, ...before } = await newKey(headers);
  const patch = (body: unknown, as = headers) => account.send("PATCH", path + id, { headers: as, body });
  const renamed = await patch({ name: "  café" });
  assert.deepEqual([renamed.status, renamed.body], [200, { ...before, id, name: "café" }]);

  const longAgo = Math.floor(account.context.clock.nowMs() / 1000) - 901;
  const stale = account.person({ sub, auth_time: longAgo });
  assert.equal((await patch({ name: "  café" }, stale)).status, 200);
  assert.equal((await patch({}, stale)).status, 200);
  const refused = await patch({ name: "other" }, stale);
  assert.deepEqual([refused.status, refused.body.error.details[0].code], [403, "step_up_required"]);

  for (const wrong of [{ name: null }, { name: "" }, { scopes: [] }, { status: "active" }]) {
    assert.equal((await patch(wrong)).status, 422, JSON.stringify(wrong));
  }
  assert.equal((await patch({ name: "last" })).status, 200);
  const said = await saidOf(headers, id, 3);
  assert.deepEqual(
    said.map(({ name, data }) => [name, dataOf({ data } as never).name]),
    [
      ["api_key.created", "deploy"],
      ["api_key.updated", "café"],
      ["api_key.updated", "last"],
    ],
  );
  assert.deepEqual(dataOf(said[1]).changed, ["name"]);
});

test("a rotation shows a new key with the same name, scopes and lifetime, and the old one works until the overlap is over", async () => {
  const headers = account.person();
  const old = await newKey(headers, { expires_at: new Date(account.context.clock.nowMs() + hours(1)).toISOString() });
  const { status, headers: answered, body } = await rotate(headers, old.id, { overlap_seconds: 60 });
  assert.equal(status, 201);
  assert.equal(answered.get("location"), path + body.id);
  assert.deepEqual([body.name, body.scopes, body.replaces], ["deploy", ["account:read"], old.id]);
  const lifetime = Date.parse(body.expires_at) - Date.parse(body.created_at);
  assert.equal(lifetime, Date.parse(old.expires_at) - Date.parse(old.created_at));
  assert.deepEqual([await statusWith(old.key), await statusWith(body.key)], [200, 200]);

  const left = await read(headers, old.id);
  assert.deepEqual([left.status, left.replaced_by], ["active", body.id]);
  assert.equal(Date.parse(left.expires_at) - Date.parse(body.created_at), seconds(60));
  const said = await saidOf(headers, old.id, 3);
  assert.deepEqual(said.map(({ name }) => name).sort(), ["access.changed", "api_key.created", "api_key.updated"]);
  const updated = dataOf(said.find(({ name }) => name === "api_key.updated"));
  assert.deepEqual([updated.changed, updated.expires_at], [["expires_at", "replaced_by"], left.expires_at]);
  assert.equal(dataOf(said.find(({ name }) => name === "access.changed")).state, "active");
  const [created] = await saidOf(headers, body.id, 1);
  assert.deepEqual([created?.name, dataOf(created).replaces], ["api_key.created", old.id]);
});

test("the new end of a rotated key is known within two seconds where the key is remembered without one", async () => {
  const elsewhere = await startElsewhere(account);
  const headers = account.person();
  const old = await newKey(headers);
  const withKey = { "x-api-key": old.key };
  assert.equal((await elsewhere.principalOf(withKey)).expiresAt, null);
  await rotate(headers, old.id);
  const end = (await read(headers, old.id)).expires_at;
  await eventually(async () => (await elsewhere.principalOf(withKey)).expiresAt?.toISOString() === end, {
    timeoutMs: 2000,
    message: "another service knows the new end",
  });
  await elsewhere.close();
});

test("a rotation without overlap ends the old key at once, everywhere", async () => {
  const elsewhere = await startElsewhere(account);
  const headers = account.person();
  const old = await newKey(headers);
  assert.equal(await elsewhere.may({ "x-api-key": old.key }, "read"), "yes");
  await rotate(headers, old.id, { overlap_seconds: 0 });
  const refused = async () =>
    (await statusWith(old.key)) === 401 && (await elsewhere.may({ "x-api-key": old.key }, "read")) === "unauthorized";
  await eventually(refused, { timeoutMs: 2000, message: "the old key is refused in both services" });
  const said = await saidOf(headers, old.id, 3);
  assert.equal(dataOf(said.find(({ name }) => name === "api_key.revoked")).reason, "rotated");
  await elsewhere.close();
});

test("a rotation without overlap ends the keys of earlier rotations too, in a full account as well", async () => {
  const headers = account.person();
  const first = await newKey(headers);
  const [short, long] = [seconds(60) / 1000, hours(24) / 1000];
  const second = (await rotate(headers, first.id, { overlap_seconds: long })).body;
  const third = (await rotate(headers, second.id, { overlap_seconds: short })).body;
  const others = [await newKey(headers), await newKey(headers)];
  const newest = (await rotate(headers, others[0].id)).body;
  const full = await rotate(headers, newest.id);
  assert.deepEqual([full.status, full.body.error.details[0].code], [409, "too_many"]);
  const last = await rotate(headers, third.id, { overlap_seconds: 0 });
  assert.equal(last.status, 201);
  for (const { key } of [first, second, third]) assert.equal(await statusWith(key), 401);
  for (const { key } of [last.body, newest, ...others]) assert.equal(await statusWith(key), 200);
  const said = (await saidOf(headers, first.id, 4)).filter(({ name }) => name === "api_key.revoked");
  assert.deepEqual(
    said.map((event) => [dataOf(event).reason, dataOf(event).changed]),
    [["rotated", ["status", "revoked_at"]]],
  );
  const left = await read(headers, first.id);
  assert.deepEqual([left.status, left.replaced_by], ["revoked", second.id]);
});

test("a rotation repeated under its Idempotency-Key shows the same key and makes one", async () => {
  const headers = account.person();
  const { id } = await newKey(headers);
  const keyed = { ...headers, "idempotency-key": crypto.randomUUID() };
  const [first, again] = [await rotate(keyed, id), await rotate(keyed, id)];
  assert.deepEqual([first.status, again.status, again.body], [201, 201, first.body]);
  assert.equal((await account.send("GET", path, { headers })).body.items.length, 2);
});

test("a key that was revoked, has expired or is replaced cannot be rotated", async () => {
  const headers = account.person();
  const revoked = await newKey(headers);
  await account.send("DELETE", path + revoked.id, { headers });
  const expired = await newKey(headers, {
    expires_at: new Date(account.context.clock.nowMs() + seconds(3)).toISOString(),
  });
  await eventually(async () => (await read(headers, expired.id)).status === "expired");
  const replaced = await newKey(headers);
  await rotate(headers, replaced.id);
  for (const [{ id }, code] of [
    [revoked, "revoked"],
    [expired, "expired"],
    [replaced, "already_replaced"],
  ]) {
    const { status, body } = await rotate(headers, id);
    assert.deepEqual([status, body.error.details[0].code], [409, code]);
  }
  assert.equal((await rotate(account.person(), replaced.id)).status, 404, "another account's key is missing");
});

test("a rotation shows a key only to callers with all of its scopes", async () => {
  const headers = account.person();
  const wide = await newKey(headers, { scopes: ["account:read", "account:security", "images:write"] });
  const narrow = await newKey(headers, { scopes: ["account:security"] });
  const { status, body } = await rotate({ "x-api-key": narrow.key }, wide.id);
  assert.deepEqual([status, body.error.details[0].code], [403, "scope_required"]);
  assert.equal((await rotate({ "x-api-key": wide.key }, wide.id)).status, 201, "a key may rotate itself");

  const first = { "x-api-key": await account.firstKey() };
  const whole = (await account.sendInternal("/internal/principals", { kind: "api-key", value: first["x-api-key"] }))
    .body;
  const plain = await newKey(first, { scopes: whole.scopes });
  const upwards = await rotate({ "x-api-key": plain.key }, whole.credential.id);
  assert.deepEqual([upwards.status, upwards.body.error.details[0].field], [403, "roles"]);
});

test("overlaps are from none to seven days, and one day unless said", async () => {
  const headers = account.person();
  const { id } = await newKey(headers);
  for (const overlap_seconds of [-1, 604_801, 1.5, null, "60"]) {
    assert.equal((await rotate(headers, id, { overlap_seconds })).status, 422, String(overlap_seconds));
  }
  const { body } = await rotate(headers, id);
  const end = Date.parse((await read(headers, id)).expires_at);
  assert.equal(end - Date.parse(body.created_at), hours(24));
});

test("an account has so many good keys and no more, and a full one can still rotate", async () => {
  const headers = account.person();
  const made = [await newKey(headers), await newKey(headers), await newKey(headers)];
  const post = () => account.send("POST", path, { headers, body: { name: "x", scopes: ["account:read"] } });
  const refused = await post();
  assert.deepEqual([refused.status, refused.body.error.details[0].code], [409, "too_many"]);
  for (const { id } of made) assert.equal((await rotate(headers, id)).status, 201);
  const [newest] = (await account.send("GET", path, { headers })).body.items;
  assert.equal((await rotate(headers, newest.id)).status, 409, "overlaps are bounded as well");
  await account.send("DELETE", path + newest.id, { headers });
  assert.equal((await post()).status, 201, "a revoked key makes room");
});

test("as many keys at once as there is room for: none slips past the bound", async () => {
  const headers = account.person();
  await idOf(headers);
  const body = { name: "x", scopes: ["account:read"] };
  const answers = await Promise.all(Array.from({ length: 8 }, () => account.send("POST", path, { headers, body })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 201, 409, 409, 409, 409, 409]);
});

test("the end of a key is announced once, within its second, with the reason", async () => {
  const headers = account.person();
  const expiring = await newKey(headers, {
    expires_at: new Date(account.context.clock.nowMs() + seconds(3)).toISOString(),
  });
  const rotated = await newKey(headers);
  await rotate(headers, rotated.id, { overlap_seconds: 1 });
  const ends = [
    [expiring, "expired", 3],
    [rotated, "rotated", 5],
  ] as const;
  for (const [{ id, key }, reason, count] of ends) {
    const said = await saidOf(headers, id, count);
    const revoked = said.filter(({ name }) => name === "api_key.revoked");
    const { expires_at, ...data } = dataOf(revoked[0]);
    assert.deepEqual([data.status, data.reason, data.changed], ["expired", reason, ["status"]]);
    const last = said.filter(({ name }) => name === "access.changed").at(-1);
    assert.equal(dataOf(last).state, "revoked");
    const lateMs = Number(revoked[0]?.time.getTime()) - Date.parse(expires_at);
    assert.ok(lateMs >= 0 && lateMs < 5000, `${lateMs} ms late`);
    assert.equal(await statusWith(key), 401);
    assert.equal(revoked.length, 1);
  }
  const entries = (await account.send("GET", "/api/account/audit/", { headers })).body.items;
  const ended = entries.filter(({ action }: { action: string }) => action === "api_key.expire");
  assert.deepEqual(ended.map(({ reason }: { reason: string }) => reason).sort(), ["expired", "rotated"]);
});

test("several instances share the announcements: each end has one event", async () => {
  const instances = [openInside(account), openInside(account)];
  const people = Array.from({ length: 5 }, () => account.person());
  const expires_at = new Date(account.context.clock.nowMs() + seconds(3)).toISOString();
  const keys = await Promise.all(people.map((headers) => newKey(headers, { expires_at })));
  let told = false;
  const telling = instances.map(async ({ pool, service }) => {
    while (!told) await inTransaction(pool, (tx) => announceExpired(service, tx, apiKeyKind));
  });
  const ofAll = await Promise.all(people.map((headers, at) => saidOf(headers, keys[at].id, 3)));
  told = true;
  await Promise.all(telling);
  const counts = ofAll.map((said) => said.filter(({ name }) => name === "api_key.revoked").length);
  assert.deepEqual(counts, [1, 1, 1, 1, 1]);
});

test("the last use of a key is written once in each minute, and is never older than the minute before", async () => {
  const headers = account.person();
  const { id } = await newKey(headers);
  const { pool } = openInside(account);
  const minute = Math.ceil(account.context.clock.nowMs() / minutes(1)) * minutes(1);
  const usedAt = async (ms: number) => {
    await apiKeyStore.touch(pool, id, new Date(ms));
    return Date.parse((await read(headers, id)).last_used_at) - minute;
  };
  const offsets = [100, seconds(59), minutes(1), minutes(1) + seconds(59), minutes(2) - 1, minutes(2) + 100];
  const seen: number[] = [];
  for (const offset of offsets) seen.push(await usedAt(minute + offset));
  assert.deepEqual(seen, [100, 100, minutes(1), minutes(1), minutes(1), minutes(2) + 100]);
});
