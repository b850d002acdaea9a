import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "@signalbox/storage";
import { eventually } from "@signalbox/testing";
import { type Harness, startAccount } from "./harness.ts";
import { openInside } from "./inside.ts";
import { startIssuer } from "./oauth-fixture.ts";
import { applications, newcomer } from "./oauth-visitor.ts";
import { holdsToIfMatch } from "./stale-validator.ts";

type Headers = Record<string, string>;

let account: Harness;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications });
});
after(() => account.close());

const path = "/api/account/clients/";
const newClient = (headers: Headers, body: object = { name: "robot", scopes: ["account:read"] }) =>
  account.send("POST", path, { headers, body });
const named = (details: { field: string }[]) => details.map(({ field }) => field);

test("where another issuer gives the tokens no client is made that could get none, in REST or in the graph", async (t) => {
  const elsewhere = await startAccount();
  t.after(elsewhere.close);
  const headers = elsewhere.person();
  const body = { name: "robot", scopes: ["account:read"] };
  const { status, body: answer } = await elsewhere.send("POST", path, { headers, body });
  assert.deepEqual([status, answer.error.code, answer.error.details[0].code], [409, "conflict", "no_issuer"]);
  const text = `mutation { createServiceClient(input: { name: "robot", scopes: ["account:read"] }) { clientSecret } }`;
  const [refusal] = (await elsewhere.query(headers, text)).errors;
  assert.deepEqual([refusal.extensions.code, refusal.message], ["CONFLICT", answer.error.message]);
  assert.deepEqual((await elsewhere.send("GET", path, { headers })).body.items, []);
});

test("scopes and an end that a client cannot have are all named, in REST and in the graph", async () => {
  const headers = await newcomer(account, "account:read account:security");
  const body = { name: "x", scopes: ["account:admin", "images:read"], expires_at: "2020-01-01T00:00:00Z" };
  const { status, body: answer } = await newClient(headers, body);
  assert.deepEqual(
    [status, answer.error.details.map(({ field, code }: Record<string, string>) => `${field} ${code}`)],
    [422, ["scopes privileged", "scopes beyond_creator", "scopes beyond_creator", "expires_at passed"]],
  );
  const text = `mutation { createServiceClient(input: { name: "x", scopes: ["images:read"], expiresAt: "2020-01-01T00:00:00Z" }) {
    errors { field } } }`;
  const { errors } = (await account.query(headers, text)).data.createServiceClient;
  assert.deepEqual(named(errors), ["scopes", "expiresAt"]);
});

test("the secret of a client is shown only to callers with all of its scopes, in REST and in the graph", async () => {
  const headers = await newcomer(account);
  const { body } = await newClient(headers, { name: "robot", scopes: ["account:read", "images:write"] });
  const narrow = { name: "narrow", scopes: ["account:security", "account:read"] };
  const { key } = (await account.send("POST", "/api/account/api-keys/", { headers, body: narrow })).body;
  const asKey = { "x-api-key": key };
  const refused = await account.send("POST", `${path}${body.id}/secret/rotate`, { headers: asKey, body: {} });
  assert.deepEqual([refused.status, refused.body.error.details[0].code], [403, "scope_required"]);
  assert.match(refused.body.error.message, /images:write/);
  const text = `mutation { rotateServiceClientSecret(input: { id: "${body.id}" }) { clientSecret } }`;
  assert.equal((await account.query(asKey, text)).errors[0].extensions.code, "FORBIDDEN");
  assert.equal((await account.send("POST", `${path}${body.id}/secret/rotate`, { headers, body: {} })).status, 200);
});

test("no client is created or rotated once the account's row forbids it, even if the edge has an older state", async () => {
  const headers = await newcomer(account);
  const { body } = await newClient(headers);
  const { pool } = openInside(account);
  // Without an event the edge keeps its cached state.
  const suspend = sql("", "update accounts set status = 'suspended' where id = $1");
  await pool.query(suspend, [(await account.send("GET", "/api/account/", { headers })).body.id]);
  const rotated = await account.send("POST", `${path}${body.id}/secret/rotate`, { headers, body: {} });
  for (const answer of [await newClient(headers), rotated]) {
    assert.deepEqual([answer.status, answer.body.error.details[0].code], [403, "account_suspended"]);
  }
  const { items } = (await account.send("GET", path, { headers })).body;
  assert.deepEqual(
    items.map(({ previous_secret_expires_at: until }: { previous_secret_expires_at: string | null }) => until),
    [null],
  );
});

test("a client has a validator that moves with its name and its secret, and who has it already gets 304", async () => {
  const headers = await newcomer(account);
  const made = await newClient(headers);
  const at = `${path}${made.body.id}`;
  const read = async (etag: string) =>
    (await account.send("GET", at, { headers: { ...headers, "if-none-match": etag } })).status;
  const first = made.headers.get("etag") ?? "";
  assert.match(first, /^"[^"]+"$/, "strong");
  assert.deepEqual([await read(first), await read(`W/${first}`), await read('"x"')], [304, 304, 200]);
  const etags = [first];
  const changes = [
    ["PATCH", at, { name: "other" }],
    ["POST", `${at}/secret/rotate`, { overlap_seconds: 60 }],
    ["POST", `${at}/secret/rotate`, { overlap_seconds: 0 }],
    ["POST", `${at}/secret/rotate`, { overlap_seconds: 0 }],
  ] as const;
  for (const [method, where, body] of changes) {
    const etag = (await account.send(method, where, { headers, body })).headers.get("etag") ?? "";
    assert.ok(!etags.includes(etag), `${method} ${JSON.stringify(body)}`);
    assert.equal(await read(etag), 304);
    etags.push(etag);
  }
  const unchanged = await account.send("PATCH", at, { headers, body: { name: "other" } });
  assert.equal(unchanged.headers.get("etag"), etags.at(-1));
});

test("a stale validator neither renames a client, rotates its secret nor revokes it", async () => {
  const headers = await newcomer(account);
  const made = await newClient(headers);
  const at = `${path}${made.body.id}`;
  await holdsToIfMatch(account, { headers, at, rotateAt: `${at}/secret/rotate`, etag: made.headers.get("etag") ?? "" });
});

test("the second of two concurrent rotations of one secret is refused", async () => {
  const headers = await newcomer(account);
  const made = await newClient(headers);
  const conditional = { ...headers, "if-match": made.headers.get("etag") ?? "" };
  const body = { overlap_seconds: 0 };
  const rotate = () => account.send("POST", `${path}${made.body.id}/secret/rotate`, { headers: conditional, body });
  const answers = await Promise.all([rotate(), rotate()]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
});

interface ShownSecret {
  readonly id: string;
  readonly created_at: string;
  readonly ends_at: string | null;
}

/** The path of a new client, and readings of it. */
async function ownClient() {
  const headers = await newcomer(account);
  const made = (await newClient(headers)).body;
  const at = `${path}${made.id}`;
  return {
    id: made.id as string,
    made,
    at,
    headers,
    rotate: async (overlap_seconds: number) =>
      (await account.send("POST", `${at}/secret/rotate`, { headers, body: { overlap_seconds } })).body,
    endOverlap: (more: Headers = {}) =>
      account.send("DELETE", `${at}/secret/previous`, { headers: { ...headers, ...more } }),
    secrets: async (): Promise<ShownSecret[]> => (await account.send("GET", at, { headers })).body.secrets,
  };
}

test("a client shows its live secrets with their ends, the newest first, and none once it is revoked", async () => {
  const { made, at, headers, rotate, secrets } = await ownClient();
  const [first] = made.secrets;
  assert.deepEqual(made.secrets, [{ id: first.id, created_at: made.created_at, ends_at: null }]);
  const rotated = await rotate(3_600);
  assert.deepEqual(rotated.secrets[1], { ...first, ends_at: rotated.previous_secret_expires_at });
  assert.equal(rotated.secrets[0].ends_at, null);
  assert.ok(rotated.secrets[0].id !== first.id && rotated.secrets[0].created_at >= first.created_at);
  assert.deepEqual(await secrets(), rotated.secrets);
  await account.send("PATCH", at, { headers, body: { name: "other" } });
  assert.deepEqual(await secrets(), rotated.secrets);
  const alone = (await rotate(0)).secrets;
  assert.deepEqual([alone.length, alone[0].ends_at], [1, null]);
  await rotate(1);
  await eventually(async () => (await secrets()).length === 1);
  await account.send("DELETE", at, { headers });
  assert.deepEqual(await secrets(), []);
});

test("the overlap of a rotation can be ended; a second time leaves no trace, and a stale validator ends nothing", async () => {
  const { id, headers, rotate, endOverlap, secrets } = await ownClient();
  const [newest] = (await rotate(3_600)).secrets;
  assert.equal((await endOverlap({ "if-match": '"stale"' })).status, 409);
  assert.equal((await secrets()).length, 2);
  for (let count = 0; count < 2; count++) assert.equal((await endOverlap()).status, 204);
  assert.deepEqual(await secrets(), [newest]);

  const { items } = (await account.send("GET", "/api/account/audit/", { headers })).body;
  const ofSecrets = items.filter(({ action }: { action: string }) => action === "client.rotate_secret");
  assert.deepEqual(
    ofSecrets.map(({ subject, fields }: { subject: string; fields: string[] }) => [subject, fields]),
    Array(2).fill([id, ["client_secret"]]),
  );
  assert.equal((await rotate(3_600)).secrets.length, 2, "there is room for another overlap");
});

test("secrets from before ids were kept have stable ids and the time of the client, also after a rotation", async () => {
  const { id, made, rotate, secrets } = await ownClient();
  await rotate(3_600);
  const forget = sql(
    "",
    `update service_clients set secret_id = null, secret_created_at = null, previous_id = null, previous_created_at = null
     where id = $1`,
  );
  await openInside(account).pool.query(forget, [id]);
  const shown = await secrets();
  assert.deepEqual(await secrets(), shown);
  assert.equal(new Set(shown.map((secret) => secret.id)).size, 2);
  assert.deepEqual(
    shown.map(({ created_at }) => created_at),
    [made.created_at, made.created_at],
  );
  await openInside(account).pool.query(sql("", "update service_clients set previous_until = now() where id = $1"), [
    id,
  ]);
  const [newest, older] = (await rotate(3_600)).secrets;
  assert.deepEqual(older, { ...shown[0], ends_at: older.ends_at });
  assert.ok(shown.every((secret) => secret.id !== newest.id));
});

test("a client's creation, renaming, rotation, revocation and expiry are announced as a key's are, and never its secret", async () => {
  const headers = await newcomer(account);
  const { id: accountId } = (await account.send("GET", "/api/account/", { headers })).body;
  const expires_at = new Date(account.context.clock.nowMs() + 2_000).toISOString();
  const { body: expiring } = await newClient(headers, { name: "short", scopes: ["account:read"], expires_at });
  const { body: client } = await newClient(headers);
  await account.send("PATCH", path + client.id, { headers, body: { name: "other" } });
  const rotated = await account.send("POST", `${path}${client.id}/secret/rotate`, { headers, body: {} });
  await account.send("DELETE", path + client.id, { headers });

  // Access changes come on a topic of their own, so in no order with the other events.
  const eventsUntilRevoked = (id: string) =>
    eventually(async () => {
      const events = (await account.eventsOf(accountId, 1)).filter(({ subject }) => subject.endsWith(id));
      const names = events.map(({ name }) => name);
      return names.includes("access.changed") && names.includes("service_client.revoked") && events;
    });
  const ofClient = await eventsUntilRevoked(client.id);
  const [created, renamed, given, revoked] = ofClient.filter(({ name }) => name !== "access.changed");
  // biome-ignore lint/suspicious/noExplicitAny: the members that are asserted.
  const dataOf = (event: unknown): any => (event as { data: unknown }).data;
  assert.deepEqual(
    [created, renamed, given, revoked].map((event) => [event?.name, dataOf(event).changed]),
    [
      ["service_client.created", []],
      ["service_client.updated", ["name"]],
      ["service_client.updated", ["client_secret"]],
      ["service_client.revoked", ["status", "revoked_at"]],
    ],
  );
  assert.deepEqual([dataOf(renamed).name, dataOf(revoked).reason], ["other", "revoked"]);
  assert.ok([created, renamed, given, revoked].every((event) => !("secrets" in dataOf(event))));
  for (const secret of [client.client_secret, rotated.body.client_secret]) {
    assert.equal(
      JSON.stringify(ofClient, (_, value) => (typeof value === "bigint" ? null : value)).includes(secret),
      false,
    );
  }
  const ended = (await eventsUntilRevoked(expiring.id)).find(({ name }) => name === "service_client.revoked");
  assert.deepEqual(
    [dataOf(ended).reason, dataOf(ended).status, dataOf(ended).changed],
    ["expired", "expired", ["status"]],
  );
});
