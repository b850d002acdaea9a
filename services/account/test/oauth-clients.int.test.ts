import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { eventually } from "@signalbox/testing";
import { startElsewhere } from "./elsewhere.ts";
import type { Harness } from "./harness.ts";
import {
  baseUrl,
  bearer,
  type CreatedClient,
  claimsOf,
  clientToken,
  headerOf,
  issuer,
  makeClient,
  startIssuer,
  tablesWith,
} from "./oauth-fixture.ts";
import { applications, signedIn } from "./oauth-visitor.ts";

let account: Harness;
let administrator: Record<string, string>;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications });
  administrator = { "x-api-key": await account.firstKey() };
});
after(() => account.close());

test("a client gets tokens that act for the account which made it, and a library we did not write understands all of it", async () => {
  const owner = (await account.send("GET", "/api/account/", { headers: administrator })).body;
  const client = await makeClient(account, administrator);
  const { configuration, access_token: token, expires_in, scope, token_type } = await clientToken(account, client);
  assert.equal(configuration.serverMetadata().issuer, issuer);
  assert.deepEqual([expires_in, token_type, scope], [600, "bearer", "account:read account:write"]);

  const { iat, exp, jti, ...claims } = claimsOf(token);
  assert.equal(Number(exp) - Number(iat), 600);
  assert.ok(jti);
  assert.deepEqual(claims, {
    iss: issuer,
    aud: baseUrl,
    sub: client.id,
    client_id: client.id,
    account_id: owner.id,
    scope: "account:read account:write",
  });
  const { kid, ...header } = headerOf(token);
  assert.ok(kid);
  assert.deepEqual(header, { alg: "ES256", typ: "at+jwt" });
  assert.equal((await account.send("GET", "/api/account/", { headers: bearer(token) })).body.id, owner.id);
});

/** The status and `error` of a token request that no library would send. */
async function askForToken(form: Record<string, string>, headers: Record<string, string> = {}) {
  const body = new URLSearchParams({ grant_type: "client_credentials", ...form });
  const answer = await fetch(`${account.url}/oauth/token`, { method: "POST", body, headers });
  return [answer.status, ((await answer.json()) as { error?: string }).error ?? "none"];
}

const basic = ({ id, secret }: CreatedClient) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`,
});
const posted = ({ id, secret }: CreatedClient) => ({ client_id: id, client_secret: secret });

test("a secret is taken in the header and in the form, and a wrong one nowhere", async () => {
  const client = await makeClient(account, administrator);
  assert.deepEqual(await askForToken({}, basic(client)), [200, "none"]);
  assert.deepEqual(await askForToken(posted(client)), [200, "none"]);
  const other = await makeClient(account, administrator);
  for (const secret of [other.secret, `${client.secret.slice(0, -1)}${client.secret.endsWith("a") ? "b" : "a"}`, "x"]) {
    assert.deepEqual(await askForToken(posted({ ...client, secret })), [401, "invalid_client"]);
    assert.deepEqual(await askForToken({}, basic({ ...client, secret })), [401, "invalid_client"]);
  }
  assert.deepEqual(await askForToken({ client_id: client.id }), [401, "invalid_client"]);
  assert.deepEqual(await askForToken(posted({ ...client, id: "cli_nobody" })), [401, "invalid_client"]);
});

test("a wrong secret, and who still uses an ended client, are in the audit of its owner, once a minute", async () => {
  const [client, ended] = [await makeClient(account, administrator), await makeClient(account, administrator)];
  const soon = new Date(account.context.clock.nowMs() + 3_000).toISOString();
  const expiring = await makeClient(account, administrator, ["account:read"], { expires_at: soon });
  await account.send("DELETE", `/api/account/clients/${ended.id}`, { headers: administrator });
  for (let count = 0; count < 3; count++) {
    await askForToken(posted({ ...client, secret: "wrong" }));
    await askForToken({}, basic(ended));
  }
  await fetch(`${account.url}/oauth/introspect`, {
    method: "POST",
    headers: basic({ ...client, secret: "wrong too" }),
    body: new URLSearchParams({ token: "x" }),
  });
  await eventually(async () => (await askForToken(posted(expiring)))[0] === 401);
  await askForToken(posted({ ...client, id: `${client.id}0` }));

  const ids = [client.id, ended.id, expiring.id];
  const refusals = await eventually(async () => {
    const { items } = (await account.send("GET", "/api/account/audit/", { headers: administrator })).body;
    const found = items.filter((entry: { action: string; subject: string }) => {
      return entry.action === "client.use" && ids.includes(entry.subject);
    });
    return new Set(found.map(({ subject }: { subject: string }) => subject)).size >= 3 && found;
  });
  const seen = refusals.map(({ outcome, reason, subject, fields }: Record<string, string>) =>
    [outcome, reason, subject, fields].join(" "),
  );
  assert.deepEqual(
    [...new Set(seen)].sort(),
    [
      `refused wrong_secret ${client.id} client_secret`,
      `refused revoked ${ended.id} status`,
      `refused expired ${expiring.id} status`,
    ].sort(),
  );
  // The clock may reach the next minute in between, which records one more repetition.
  assert.ok(refusals.length <= 5);
  assert.ok(refusals.every(({ actor }: { actor: { address: string } }) => actor.address === "127.0.0.1"));
  assert.ok(refusals.every(({ request_id: id }: { request_id: string | null }) => id !== null));
});

test("a token has the scopes that were asked for, and never one that the client does not have", async () => {
  const client = await makeClient(account, administrator, ["account:read", "env:read"]);
  const narrow = await clientToken(account, client, "account:read");
  assert.equal(narrow.scope, "account:read");
  const renamed = { headers: bearer(narrow.access_token), body: { display_name: "Eve" } };
  assert.equal((await account.send("PATCH", "/api/account/", renamed)).status, 403);
  for (const scope of ["account:write", "account:read account:admin", "rubbish"]) {
    assert.deepEqual(await askForToken({ ...posted(client), scope }), [400, "invalid_scope"], scope);
  }
});

test("nobody makes a client that may more than they, or what only roles and keys bring", async () => {
  const path = "/api/account/clients/";
  const narrow = { name: "narrow", scopes: ["account:security", "account:read"] };
  const { key } = (await account.send("POST", "/api/account/api-keys/", { headers: administrator, body: narrow })).body;
  const attempt = async (headers: Record<string, string>, scopes: string[]) => {
    const { status, body } = await account.send("POST", path, { headers, body: { name: "x", scopes } });
    return [status, ...body.error.details.map(({ code, message }: Record<string, string>) => `${code} ${message}`)];
  };
  const [beyond, words] = await attempt({ "x-api-key": key }, ["account:read", "images:read"]);
  assert.equal(beyond, 422);
  assert.match(words, /^beyond_creator .*images:read/);
  const [privileged, admin] = await attempt(administrator, ["account:admin"]);
  assert.equal(privileged, 422);
  assert.match(admin, /^privileged .*account:admin/);
});

test("after a rotation both secrets work until the overlap ends, despite another rotation, and without an overlap the old secret ends at once", async () => {
  const client = await makeClient(account, administrator);
  const rotate = async (body: object) =>
    (await account.send("POST", `/api/account/clients/${client.id}/secret/rotate`, { headers: administrator, body }))
      .body;
  const second = { id: client.id, secret: (await rotate({ overlap_seconds: 3600 })).client_secret };
  assert.deepEqual(await askForToken(posted(client)), [200, "none"]);
  assert.deepEqual(await askForToken(posted(second)), [200, "none"]);
  const early = (await rotate({ overlap_seconds: 1 })).error;
  assert.deepEqual(
    [early.code, early.field, early.details[0].code],
    ["conflict", "overlap_seconds", "already_rotated"],
  );
  assert.match(early.message, /until \d{4}-.*overlap of 0/);
  for (const good of [client, second]) assert.deepEqual(await askForToken(posted(good)), [200, "none"]);
  const third = await rotate({ overlap_seconds: 0 });
  assert.equal(third.previous_secret_expires_at, null);
  assert.deepEqual(await askForToken(posted(client)), [401, "invalid_client"]);
  assert.deepEqual(await askForToken(posted(second)), [401, "invalid_client"]);
  assert.deepEqual(await askForToken(posted({ id: client.id, secret: third.client_secret })), [200, "none"]);
  const fourth = await rotate({ overlap_seconds: 1 });
  await eventually(async () => (await askForToken(posted({ id: client.id, secret: third.client_secret })))[0] === 401);
  assert.deepEqual(await askForToken(posted({ id: client.id, secret: fourth.client_secret })), [200, "none"]);
  assert.ok((await rotate({})).client_secret, "once the overlap is over, the next one begins");
});

test("the overlap of a rotation can be ended: the token endpoint refuses the old secret at once", async () => {
  const client = await makeClient(account, administrator);
  const path = `/api/account/clients/${client.id}/secret`;
  const rotated = await account.send("POST", `${path}/rotate`, { headers: administrator, body: {} });
  const newest = { id: client.id, secret: rotated.body.client_secret };
  for (const good of [client, newest]) assert.deepEqual(await askForToken(posted(good)), [200, "none"]);
  for (let count = 0; count < 2; count++) {
    assert.equal((await account.send("DELETE", `${path}/previous`, { headers: administrator })).status, 204);
    assert.deepEqual(await askForToken(posted(client)), [401, "invalid_client"]);
    assert.deepEqual(await askForToken(posted(newest)), [200, "none"]);
  }
});

test("a revoked client gets no tokens, and those it has stop within two seconds in every service", async () => {
  const elsewhere = await startElsewhere(account);
  const [client, kept] = [await makeClient(account, administrator), await makeClient(account, administrator)];
  const { access_token: token } = await clientToken(account, client);
  const { access_token: keptToken } = await clientToken(account, kept);
  for (const each of [token, keptToken]) assert.equal(await elsewhere.may(bearer(each), "read"), "yes");

  const path = `/api/account/clients/${client.id}`;
  for (let count = 0; count < 2; count++) {
    assert.equal((await account.send("DELETE", path, { headers: administrator })).status, 204);
  }
  assert.deepEqual(await askForToken(posted(client)), [401, "invalid_client"]);
  const isRefusedEverywhere = async () =>
    (await elsewhere.may(bearer(token), "read")) === "unauthorized" &&
    (await account.send("GET", "/api/account/", { headers: bearer(token) })).status === 401;
  await eventually(isRefusedEverywhere, { timeoutMs: 2000, message: "refused in both services" });
  assert.equal(await elsewhere.may(bearer(keptToken), "read"), "yes");
  const { status, revoked_at } = (await account.send("GET", path, { headers: administrator })).body;
  assert.deepEqual([status, typeof revoked_at], ["revoked", "string"]);
  assert.equal((await account.send("POST", `${path}/secret/rotate`, { headers: administrator, body: {} })).status, 409);
  await elsewhere.close();
});

test("no token of a client outlives the client", async () => {
  const inSeconds = (count: number) => new Date(account.context.clock.nowMs() + count * 1000);
  const lifeOf = async (end: Date | null) => {
    const made = await makeClient(account, administrator, ["account:read"], { expires_at: end?.toISOString() ?? null });
    const { access_token: token, expires_in } = await clientToken(account, made);
    const { exp, iat } = claimsOf(token) as { exp: number; iat: number };
    assert.equal(expires_in, exp - iat);
    return { seconds: exp - iat, endMs: exp * 1000 };
  };
  const [soon, later] = [inSeconds(90), inSeconds(7200)];
  assert.ok((await lifeOf(soon)).endMs <= soon.getTime(), "it ends with the client");
  assert.equal((await lifeOf(later)).seconds, 600);
  assert.equal((await lifeOf(null)).seconds, 600);
});

test("a client past its end gets no tokens", async () => {
  const soon = new Date(account.context.clock.nowMs() + 5_000).toISOString();
  const client = await makeClient(account, administrator, ["account:read"], { expires_at: soon });
  assert.deepEqual(await askForToken(posted(client)), [200, "none"]);
  await eventually(async () => (await askForToken(posted(client)))[0] === 401);
});

test("a client of a suspended account reads and writes nothing, one of a deleted account gets no tokens", async () => {
  const person = await signedIn(account, { scope: "openid account:read account:write account:security" });
  const client = await makeClient(account, bearer(person.access_token));
  const { access_token: before } = await clientToken(account, client);
  const id = person.idClaims?.sub;
  const moveTo = async (status: string) => {
    const body = { status, reason: "x" };
    const moved = await account.send("POST", `/api/accounts/${id}/status`, { headers: administrator, body });
    assert.equal(moved.status, 200);
  };
  const rename = (token: string) =>
    account.send("PATCH", "/api/account/", { headers: bearer(token), body: { display_name: "Eve" } });
  await moveTo("suspended");
  const { access_token: after } = await clientToken(account, client);
  assert.equal((await account.send("GET", "/api/account/", { headers: bearer(after) })).status, 200);
  for (const token of [before, after]) await eventually(async () => (await rename(token)).status === 403);
  await moveTo("active");
  await eventually(async () => (await rename(after)).status === 200);
  await moveTo("deleted");
  assert.deepEqual(await askForToken(posted(client)), [401, "invalid_client"]);
  await moveTo("active");
  await eventually(async () => (await rename(after)).status === 200);
  assert.deepEqual(await askForToken(posted(client)), [200, "none"]);
});

test("a client's secret is shown by the answer to its making, again to the same request, and is nowhere in clear", async () => {
  const headers = { ...administrator, "idempotency-key": crypto.randomUUID() };
  const body = { name: "robot", scopes: ["account:read"] };
  const make = () => account.send("POST", "/api/account/clients/", { headers, body });
  const [first, again] = [await make(), await make()];
  assert.equal(first.headers.get("location"), `/api/account/clients/${first.body.id}`);
  assert.equal(first.body.client_id, first.body.id);
  assert.deepEqual(again.body, first.body);
  const read = await account.send("GET", `/api/account/clients/${first.body.id}`, { headers: administrator });
  const { client_id: _id, client_secret: secret, ...rest } = first.body;
  assert.deepEqual(read.body, rest);
  assert.deepEqual(await tablesWith(account, secret), []);
  assert.ok(!JSON.stringify(account.context.logged).includes(secret));
  const digest = createHash("sha256").update(secret).digest("hex");
  assert.deepEqual(await tablesWith(account, digest), ["service_clients"]);
});

test("clients are listed newest first, renamed, and their use is noted", async () => {
  const made = [];
  for (let count = 0; count < 3; count++) made.unshift((await makeClient(account, administrator)).id);
  const path = "/api/account/clients/";
  const first = (await account.send("GET", `${path}?limit=2`, { headers: administrator })).body;
  const second = (await account.send("GET", `${path}?limit=1&cursor=${first.next_cursor}`, { headers: administrator }))
    .body;
  const listed = [...first.items, ...second.items].map(({ id }: { id: string }) => id);
  assert.deepEqual([...listed].sort(), [...made].sort());

  const client = await makeClient(account, administrator);
  const renamed = await account.send("PATCH", path + client.id, { headers: administrator, body: { name: "Ω" } });
  assert.deepEqual([renamed.status, renamed.body.name, renamed.body.last_used_at], [200, "Ω", null]);
  await clientToken(account, client);
  const used = await eventually(async () => {
    const answer = await account.send("GET", path + client.id, { headers: administrator });
    return answer.body.last_used_at !== null && answer;
  });
  assert.equal(used.headers.get("etag"), renamed.headers.get("etag"), "use moves no validator");
  const audit = (await account.send("GET", "/api/account/audit/?limit=20", { headers: administrator })).body.items;
  const ofClient = audit.filter(({ subject }: { subject: string }) => subject === client.id);
  assert.deepEqual(
    ofClient.map(({ action, fields }: { action: string; fields: string[] }) => [action, fields.join(" ")]),
    [
      ["client.update", "name"],
      ["client.create", "name scopes expires_at"],
    ],
  );
});

test("an account has no more clients than it may", async () => {
  const few = await startIssuer({ "account.clients.max": 1 });
  const headers = { "x-api-key": await few.firstKey() };
  const { id } = await makeClient(few, headers);
  const body = { name: "one more", scopes: ["account:read"] };
  assert.equal((await few.send("POST", "/api/account/clients/", { headers, body })).status, 409);
  await few.send("DELETE", `/api/account/clients/${id}`, { headers });
  assert.equal((await few.send("POST", "/api/account/clients/", { headers, body })).status, 201);
  await few.close();
});
