import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { AuditEntryResource } from "@signalbox/contracts";
import { eventually } from "@signalbox/testing";
import { addressBehindGateway, type Harness, startAccount } from "./harness.ts";
import { insertClient, openInside } from "./inside.ts";

let account: Harness;
let administrator: Record<string, string>;
before(async () => {
  account = await startAccount();
  administrator = { "x-api-key": await account.firstKey() };
});
after(() => account.close());

const path = "/api/account/";
const idOf = async (headers: Record<string, string>): Promise<string> =>
  (await account.send("GET", path, { headers })).body.id;

async function auditOf(headers: Record<string, string>, at = "/api/account/audit/"): Promise<AuditEntryResource[]> {
  const { status, body } = await account.send("GET", at, { headers });
  assert.equal(status, 200);
  return body.items;
}

const distinct = (entries: AuditEntryResource[]): string[] => [
  ...new Set(entries.map(({ action, reason, fields }) => [action, reason, ...fields].join(" | "))),
];

test("an audit entry never holds a value", async () => {
  const headers = { ...account.person({ jti: "audited" }), "x-request-id": "audited-request" };
  const secret = crypto.randomUUID();
  const before = account.context.clock.nowMs();
  await account.send("PATCH", path, { headers, body: { display_name: secret, locale: "de" } });
  const issued = await account.send("POST", "/api/account/api-keys/", {
    headers,
    body: { name: secret, scopes: ["account:read"] },
  });
  await account.send("DELETE", issued.headers.get("location") as string, { headers });
  const entries = await auditOf(headers);
  assert.deepEqual(
    entries.map(({ action, outcome, fields }) => [action, outcome, ...fields]),
    [
      ["api_key.revoke", "done", "status"],
      ["api_key.create", "done", "name", "scopes", "expires_at"],
      ["account.update", "done", "display_name", "locale"],
      ["account.create", "done"],
    ],
  );
  const { id, created_at, ...update } = entries[2] as AuditEntryResource;
  assert.ok(id !== "" && Date.parse(created_at) >= before - 1);
  assert.deepEqual(update, {
    account_id: await idOf(headers),
    action: "account.update",
    outcome: "done",
    fields: ["display_name", "locale"],
    reason: null,
    subject: null,
    actor: {
      kind: "owner",
      account_id: await idOf(headers),
      credential: "jti:corp:audited",
      address: "127.0.0.1",
    },
    request_id: "audited-request",
  });
  const text = JSON.stringify(entries);
  assert.ok(!text.includes(secret) && !text.includes(issued.body.key), "names of fields, never values");
});

test("an entry says which key or client was touched, also in the graph and in an export", async () => {
  const headers = account.person();
  const made = async (what: string) => {
    const at = `/api/account/${what}/`;
    const body = { name: "deploy", scopes: ["account:read"] };
    return `${at}${(await account.send("POST", at, { headers, body })).body.id}`;
  };
  const [key, untouched] = [await made("api-keys"), await made("api-keys")];
  const client = `/api/account/clients/${await insertClient(openInside(account), await idOf(headers), ["account:read"])}`;
  for (const each of [key, client]) {
    await account.send("PATCH", each, { headers, body: { name: "other" } });
  }
  const next = (await account.send("POST", `${key}/rotate`, { headers, body: { overlap_seconds: 60 } })).body.id;
  await account.send("POST", `${client}/secret/rotate`, { headers, body: {} });
  await account.send("DELETE", `/api/account/api-keys/${next}`, { headers });
  await account.send("DELETE", client, { headers });
  const [keyId, clientId, untouchedId] = [key, client, untouched].map((each) => each.split("/").at(-1));
  const expected = [
    ["client.revoke", clientId],
    ["api_key.revoke", next],
    ["client.rotate_secret", clientId],
    ["api_key.rotate", keyId],
    ["client.update", clientId],
    ["api_key.update", keyId],
    ["api_key.create", untouchedId],
    ["api_key.create", keyId],
    ["account.create", null],
  ];
  const named = (entries: Pick<AuditEntryResource, "action" | "subject">[]) =>
    entries.map(({ action, subject }) => [action, subject]);
  assert.deepEqual(named(await auditOf(headers)), expected);
  const graph = await account.query(headers, "{ viewer { auditLog { edges { node { action subject } } } } }");
  const edges: { node: AuditEntryResource }[] = graph.data.viewer.auditLog.edges;
  assert.deepEqual(named(edges.map(({ node }) => node)), expected);
  const exported = await account.send("GET", "/api/account/export/", { headers });
  assert.deepEqual(named(exported.body.audit), expected);
});

test("a write without effect leaves no entry", async () => {
  const headers = account.person({ name: "Ada" });
  await account.send("PATCH", path, { headers, body: { display_name: "Ada" } });
  await account.send("PATCH", path, { headers, body: { display_name: "" } });
  await account.send("PATCH", path, { headers: { ...headers, "if-match": '"x"' }, body: { display_name: "Eve" } });
  assert.deepEqual(
    (await auditOf(headers)).map(({ action }) => action),
    ["account.create"],
  );
});

test("the owner reads what an administrator did and why, but not with which credential and from where", async () => {
  const headers = account.person();
  const id = await idOf(headers);
  const body = { status: "suspended", reason: "Unpaid invoice" };
  await account.send("POST", `/api/accounts/${id}/status`, { headers: administrator, body });
  const [own] = await auditOf(headers);
  const [whole] = await auditOf(administrator, `/api/accounts/${id}/audit/`);
  assert.deepEqual([own?.action, own?.reason, own?.fields], ["account.suspend", "Unpaid invoice", ["status"]]);
  assert.deepEqual([own?.actor.kind, own?.actor.credential, own?.actor.address], ["administrator", null, null]);
  assert.equal(own?.actor.account_id, await idOf(administrator));
  assert.match(whole?.actor.credential ?? "", /^key_/);
  assert.equal(whole?.actor.address, "127.0.0.1");
  assert.equal(whole?.id, own?.id);
});

test("what a known caller was refused is written down, once a minute for the same", async () => {
  const claims = { sub: crypto.randomUUID() };
  const longAgo = Math.floor(account.context.clock.nowMs() / 1000) - 901;
  const headers = account.person({ ...claims, auth_time: longAgo });
  const id = await idOf(headers);
  for (let count = 0; count < 3; count++) await account.send("DELETE", path, { headers });
  await account.send("PATCH", path, { headers, body: { contact_address: "eve@example.org" } });
  await account.send("GET", `/api/accounts/${id}`, { headers });
  const key = { name: "robot", scopes: ["account:read"] };
  const made = await account.send("POST", "/api/account/api-keys/", { headers: account.person(claims), body: key });
  const robot = { "x-api-key": made.body.key };
  assert.equal((await account.send("POST", "/api/account/step-up/", { headers: robot, body: {} })).status, 403);
  const refusals = await eventually(async () => {
    const entries = (await auditOf(headers)).filter(({ outcome }) => outcome === "refused");
    return distinct(entries).length >= 4 && entries;
  });
  assert.deepEqual(distinct(refusals), [
    "POST /api/account/step-up/ | not_a_person | authorization",
    "GET /api/accounts/:account_id | scope_required | scope",
    "PATCH /api/account/ | step_up_required | authorization",
    "DELETE /api/account/ | step_up_required | authorization",
  ]);
  // The clock may reach the next minute in between, which records one more repetition.
  assert.ok(refusals.length <= 5);
  assert.equal(refusals[0]?.actor.account_id, id);
});

test("a code that was not taken is written down, once a minute for the same, over GraphQL as well", async () => {
  const claims = { sub: crypto.randomUUID(), email: "holder@example.org", email_verified: true };
  const headers = account.person({ ...claims, jti: crypto.randomUUID() });
  await account.send("PATCH", path, { headers, body: { contact_address: "new@example.org" } });
  const wrong = { headers, body: { code: "x" } };
  for (let count = 0; count < 3; count++) {
    assert.equal((await account.send("POST", "/api/account/step-up/", wrong)).status, 422);
    assert.equal((await account.send("POST", "/api/account/contact-change/confirm", wrong)).status, 422);
  }
  const inGraph = account.person({ ...claims, jti: "in-graph" });
  const text = `mutation { confirmContactAddress(input: { code: "x" }) { errors { field } } }`;
  assert.equal((await account.query(inGraph, text)).data.confirmContactAddress.errors[0].field, "code");
  const refusals = await eventually(async () => {
    const entries = (await auditOf(headers)).filter(({ outcome }) => outcome === "refused");
    return entries.length >= 3 && entries;
  });
  assert.deepEqual(distinct(refusals).sort(), [
    "account.contact_confirm | wrong_code | code",
    "account.step_up | wrong_code | code",
  ]);
  assert.ok(refusals.some(({ actor }) => actor.credential === "jti:corp:in-graph"));
  // The clock may reach the next minute in between, which records one more repetition.
  assert.ok(refusals.length <= 5);
});

test("the audit holds what happens over GraphQL", async () => {
  const headers = account.person();
  await account.query(headers, `mutation { updateAccount(input: { displayName: "Ada" }) { account { id } } }`);
  const text = `mutation { setAccountStatus(input: { accountId: "acc_1", status: deleted, reason: "x" }) { errors { field } } }`;
  await account.query(headers, text);
  const [refusal] = await eventually(async () => {
    const entries = (await auditOf(headers)).filter(({ outcome }) => outcome === "refused");
    return entries.length > 0 && entries;
  });
  assert.deepEqual([refusal?.action, refusal?.reason], ["Mutation.setAccountStatus", "scope_required"]);
  const update = (await auditOf(headers)).find(({ action }) => action === "account.update");
  assert.deepEqual([refusal?.actor.address, update?.actor.address], [addressBehindGateway, addressBehindGateway]);
});

test("the use of a revoked key is recorded, in whichever service it was tried", async () => {
  const headers = account.person();
  const body = { name: "lost", scopes: ["account:read"] };
  const { id, key } = (await account.send("POST", "/api/account/api-keys/", { headers, body })).body;
  await account.send("DELETE", `/api/account/api-keys/${id}`, { headers });
  const asked = await account.sendInternal("/internal/principals", { kind: "api-key", value: key });
  assert.equal(asked.status, 422);
  const [use] = await eventually(async () => {
    const entries = (await auditOf(headers)).filter(({ outcome }) => outcome === "refused");
    return entries.length > 0 && entries;
  });
  const { action, reason, subject, actor } = use as AuditEntryResource;
  assert.deepEqual([action, reason, subject, actor.credential], ["api_key.use", "revoked", id, id]);
});

test("the audit of another account is not there", async () => {
  const headers = account.person();
  for (const display_name of ["one", "two", "three", "four"]) {
    await account.send("PATCH", path, { headers, body: { display_name } });
  }
  const seen: string[] = [];
  let cursor = "";
  for (;;) {
    const { body } = await account.send("GET", `/api/account/audit/?limit=2${cursor}`, { headers });
    seen.push(...body.items.map(({ id }: AuditEntryResource) => id));
    if (!body.has_more) break;
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
  }
  assert.equal(new Set(seen).size, 5);
  assert.deepEqual(seen, [...seen].sort().reverse());
  const nobody = await account.send("GET", "/api/accounts/acc_0/audit/", { headers: administrator });
  assert.equal(nobody.status, 404);
  assert.equal((await account.send("GET", "/api/account/audit/?cursor=x", { headers })).status, 400);
});

test("an administrator who reads the management env is in the audit of all accounts", async () => {
  const reader = await account.authorizeManagement(administrator, "203.0.113.9");
  assert.ok(typeof reader === "object");
  reader.recordRead();
  const reads = await eventually(async () => {
    const all = await auditOf(administrator, "/api/accounts/audit/?action=management.read_env");
    return all.length > 0 && all;
  });
  assert.deepEqual(
    reads.map(({ subject, actor }) => [subject, actor.address]),
    [["account", "203.0.113.9"]],
  );
});
