import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { inTransaction } from "@signalbox/storage";
import { createSoftwareAuthenticator, eventually, passkeyOptionsOf } from "@signalbox/testing";
import type { Harness } from "./harness.ts";
import { openInside } from "./inside.ts";
import { baseUrl, bearer, issuer, startIssuer } from "./oauth-fixture.ts";
import { application, applications, createVisitor, signedIn, startSignIn, type Visitor } from "./oauth-visitor.ts";

let account: Harness;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications });
});
after(() => account.close());

const { origin } = new URL(baseUrl);
const page = `${issuer}/passkeys`;
const path = "/api/account/passkeys";

/** Adds a passkey in the browser of a person who has just signed in. */
async function enrol(visitor: Visitor, name: string, forgery: object = {}) {
  const authenticator = createSoftwareAuthenticator(origin);
  const shown = await visitor.open(page);
  const response = authenticator.create(passkeyOptionsOf(shown), forgery);
  return { authenticator, answer: await visitor.submit(shown, { name, response }) };
}

async function personWithPasskey() {
  const person = await signedIn(account, { scope: "openid account:read account:security" });
  const { authenticator } = await enrol(person.visitor, "Phone");
  return { ...person, authenticator, headers: bearer(person.access_token) };
}

type Authenticator = ReturnType<typeof createSoftwareAuthenticator>;

/** Uses a passkey on the page of a new sign-in, in a browser that nobody has used. */
async function use(authenticator: Authenticator, forgery: object = {}) {
  const visitor = createVisitor(account);
  const { url, finish } = await startSignIn(account);
  const shown = await visitor.open(url);
  const response = authenticator.use(passkeyOptionsOf(shown), forgery);
  return { visitor, shown, finish, answer: await visitor.submit(shown, { response }, "passkey") };
}

test("a passkey signs its holder in without an address, and the token is that of a fresh sign-in", async () => {
  const { authenticator, idClaims } = await personWithPasskey();
  const { answer, finish } = await use(authenticator);
  assert.equal(answer.url.origin, new URL(application.redirect_uris[0] ?? "").origin);
  const tokens = await finish(answer.url);
  assert.equal(tokens.claims()?.sub, idClaims?.sub);
  const body = { name: "made after a recent sign-in", scopes: ["account:read"] };
  const key = await account.send("POST", "/api/account/api-keys/", { headers: bearer(tokens.access_token), body });
  assert.equal(key.status, 201, "a sign-in by passkey is a step-up too");
});

const wrong: Readonly<Record<string, object>> = {
  "for another origin": { origin: "https://signalbox.example.evil.example" },
  "for another origin over plain HTTP": { origin: "http://signalbox.example" },
  "for another relying party": { rpId: "evil.example" },
  "for a part of the host": { rpId: "example" },
  "without the person's verification": { flags: 0x01 },
  "without the person's presence": { flags: 0x04 },
  "for another challenge": { challenge: "AAAA" },
  "of another ceremony": { type: "webauthn.other" },
};
const wrongUse: typeof wrong = {
  ...wrong,
  "with another key": { otherKey: true },
  "of a new passkey": { type: "webauthn.create" },
  "for another account": { userHandle: Buffer.from("acc_another").toString("base64url") },
  "with a counter that stands still": { counter: 1 },
  "with a counter that went back to nothing": { counter: 0 },
};

for (const [name, forgery] of Object.entries(wrong)) {
  test(`a new passkey ${name} is refused`, async () => {
    const { visitor, access_token } = await signedIn(account, { scope: "openid account:read" });
    const { answer } = await enrol(visitor, "Phone", forgery);
    assert.equal(answer.status, 422);
    assert.match(answer.text, /The passkey was not added/);
    const list = await account.send("GET", `${path}/`, { headers: bearer(access_token) });
    assert.deepEqual(list.body.items, []);
  });
}

test("every use of a passkey that proves something else is refused, and the right one is good", async () => {
  const { authenticator, headers } = await personWithPasskey();
  assert.ok((await use(authenticator)).answer.url.searchParams.has("code"), "the counter stands at two");
  for (const [name, forgery] of Object.entries(wrongUse)) {
    const { answer } = await use(authenticator, forgery);
    assert.equal(answer.status, 422, name);
    assert.match(answer.text, /This passkey was not accepted/, name);
  }
  const good = await use(authenticator, { counter: 100 });
  assert.ok(good.answer.url.searchParams.has("code"));
  const audit = await account.send("GET", "/api/account/audit/?outcome=refused", { headers });
  const reasons = new Set(audit.body.items.map(({ reason }: { reason: string }) => reason));
  assert.deepEqual([...reasons].sort(), ["cloned", "not_verified"]);
});

test("a passkey that nobody added, or whose challenge belongs to another sign-in, signs nobody in", async () => {
  assert.equal((await use(createSoftwareAuthenticator(origin))).answer.status, 422);
  const { authenticator } = await personWithPasskey();
  const { shown } = await use(authenticator, { origin: "https://evil.example" });
  const stale = authenticator.use(passkeyOptionsOf(shown));
  const visitor = createVisitor(account);
  const other = await visitor.open((await startSignIn(account)).url);
  assert.equal((await visitor.submit(other, { response: stale }, "passkey")).status, 422);
  for (const response of ["", "null", "[]", "{", `{"id":"${"A".repeat(20_000)}"}`]) {
    assert.equal((await visitor.submit(other, { response }, "passkey")).status, 422, response.slice(0, 20));
  }
});

test("a passkey that is added, renamed or removed is an event for its account, without its key, and a use is none", async () => {
  const { headers, authenticator } = await personWithPasskey();
  const { items } = (await account.send("GET", `${path}/`, { headers })).body;
  const [{ id }] = items;
  assert.ok((await use(authenticator)).answer.url.searchParams.has("code"));
  for (const name of ["Old phone", "Old phone"]) {
    assert.equal((await account.send("PATCH", `${path}/${id}`, { headers, body: { name } })).status, 200);
  }
  assert.equal((await account.send("DELETE", `${path}/${id}`, { headers })).status, 204);
  const { id: accountId } = (await account.send("GET", "/api/account/", { headers })).body;
  const events = await eventually(async () => {
    const own = (await account.eventsOf(accountId, 1)).filter(({ subject }) => subject === id);
    return own.some(({ name }) => name === "passkey.deleted") && own;
  });
  const shown = events.map(({ name, data }) => {
    const { name: passkey, changed } = data as { name: string; changed: string[] };
    return [name, passkey, changed];
  });
  assert.deepEqual(shown, [
    ["passkey.created", "Phone", []],
    ["passkey.updated", "Old phone", ["name"]],
    ["passkey.deleted", "Old phone", []],
  ]);
  assert.doesNotMatch(JSON.stringify(events), /public_key|publicKey|credential_id|counter/);
});

test("an account that is suspended while its page is open gets no passkey, and reads why", async () => {
  const { visitor, access_token } = await signedIn(account, { scope: "openid account:read" });
  const headers = bearer(access_token);
  const { id } = (await account.send("GET", "/api/account/", { headers })).body;
  const shown = await visitor.open(page);
  const admin = { "x-api-key": await account.firstKey() };
  const body = { status: "suspended", reason: "test" };
  assert.equal((await account.send("POST", `/api/accounts/${id}/status`, { headers: admin, body })).status, 200);
  const response = createSoftwareAuthenticator(origin).create(passkeyOptionsOf(shown));
  const refused = await visitor.submit(shown, { name: "Phone", response });
  assert.deepEqual([refused.status, /not possible right now/.test(refused.text)], [403, true]);
  assert.deepEqual((await account.send("GET", `${path}/`, { headers })).body.items, []);
});

test("a passkey is added only in a browser that signed in a moment ago, by its own page, and once", async () => {
  const stranger = await createVisitor(account).open(page);
  assert.doesNotMatch(stranger.text, /data-options/);
  const { visitor } = await signedIn(account);
  const shown = await visitor.open(page);
  const authenticator = createSoftwareAuthenticator(origin);
  const response = authenticator.create(passkeyOptionsOf(shown));
  const foreign = await visitor.submit(shown, { name: "x", response }, undefined, { "sec-fetch-site": "cross-site" });
  assert.equal(foreign.status, 400);
  const later = await visitor.submit(shown, { name: "x", response, at: String(Date.now() + 1) });
  assert.match(later.text, /The passkey was not added/, "another moment is another challenge");
  const other = (await signedIn(account)).visitor;
  assert.match((await other.submit(shown, { name: "x", response })).text, /not added/, "another session too");
  assert.match((await visitor.submit(shown, { name: "Phone", response })).text, /<li>Phone<\/li>/);
  assert.match((await visitor.submit(shown, { name: "Phone", response })).text, /not added/, "a second time");
});

test("passkeys are listed, renamed and removed over REST and the graph, by their holder alone", async () => {
  const { visitor, headers, authenticator } = await personWithPasskey();
  await enrol(visitor, "Laptop");
  const { items } = (await account.send("GET", `${path}/`, { headers })).body;
  assert.deepEqual(
    items.map(({ name }: { name: string }) => name),
    ["Laptop", "Phone"],
  );
  assert.deepEqual(Object.keys(items[0]).sort(), ["created_at", "id", "last_used_at", "name", "synced"]);
  const [laptop, phone] = items;
  const stranger = bearer((await signedIn(account, { scope: "openid account:read account:security" })).access_token);
  for (const by of ["PATCH", "DELETE"]) {
    const body = by === "PATCH" ? { name: "x" } : undefined;
    assert.equal((await account.send(by, `${path}/${phone.id}`, { headers: stranger, body })).status, 404);
  }
  const renamed = await account.send("PATCH", `${path}/${phone.id}`, { headers, body: { name: "Old phone" } });
  assert.deepEqual([renamed.status, renamed.body.name], [200, "Old phone"]);
  const listed = await account.query(headers, "{ viewer { passkeys { edges { node { id name } } } } }");
  assert.deepEqual(listed.data.viewer.passkeys.edges[1].node, { id: phone.id, name: "Old phone" });
  const text = `mutation { removePasskey(input: { id: "${phone.id}" }) { removedPasskeyId errors { message } } }`;
  assert.equal((await account.query(headers, text)).data.removePasskey.removedPasskeyId, phone.id);
  assert.equal((await use(authenticator)).answer.status, 422, "a removed passkey signs nobody in");
  assert.equal((await account.send("DELETE", `${path}/${laptop.id}`, { headers })).status, 204);
  const audit = await account.send("GET", "/api/account/audit/?limit=50", { headers });
  const actions = audit.body.items
    .map(({ action, subject }: { action: string; subject: string }) => `${action} ${subject}`)
    .filter((entry: string) => entry.startsWith("passkey."));
  assert.deepEqual(actions, [
    `passkey.remove ${laptop.id}`,
    `passkey.remove ${phone.id}`,
    `passkey.update ${phone.id}`,
    `passkey.add ${laptop.id}`,
    `passkey.add ${phone.id}`,
  ]);
  const exported = await account.send("GET", "/api/account/export/", { headers });
  assert.deepEqual(exported.body.passkeys, []);
});

test("an account has ten passkeys at most, and keeps the last one if it is the only way in", async () => {
  const { visitor, headers, idClaims } = await personWithPasskey();
  for (let count = 1; count < 10; count++) await enrol(visitor, `Phone ${count}`);
  const full = await visitor.open(page);
  assert.match(full.text, /the maximum of 10 passkeys/);
  assert.doesNotMatch(full.text, /data-options/);
  const { pool, service } = openInside(account);
  const { items } = (await account.send("GET", `${path}/?limit=20`, { headers })).body;
  assert.equal(items.length, 10);
  // The account loses its verified address, as by another holder's objection.
  const { accountStore } = service;
  const id = String(idClaims?.sub);
  await inTransaction(pool, async (tx) => {
    const own = await accountStore.lock(tx, id);
    if (own) await accountStore.save(tx, { ...own, contactAddressVerified: false });
  });
  const statuses: number[] = [];
  for (const { id: passkey } of items) {
    statuses.push((await account.send("DELETE", `${path}/${passkey}`, { headers })).status);
  }
  assert.deepEqual(statuses, [...Array.from({ length: 9 }, () => 204), 409]);
});

test("a passkey whose name cannot be used is kept under the browser's, because the device has made it", async () => {
  const { visitor } = await signedIn(account);
  const shown = await visitor.open(page);
  const response = createSoftwareAuthenticator(origin).create(passkeyOptionsOf(shown));
  const kept = await visitor.submit(shown, { name: "a\u202Eb", response });
  assert.deepEqual([kept.status, /<li>Passkey<\/li>/.test(kept.text)], [422, true]);
  assert.match(kept.text, /was added as Passkey, because the name that you gave cannot be used/);
});

test("a browser is told of a passkey that is unknown here", async () => {
  const { visitor } = await signedIn(account);
  const shown = await visitor.open(page);
  const authenticator = createSoftwareAuthenticator(origin);
  authenticator.create(passkeyOptionsOf(shown));
  const asked = await visitor.open((await startSignIn(account, { more: { prompt: "login" } })).url);
  assert.match(asked.text, /autocomplete="username webauthn"/);
  const refused = await visitor.submit(asked, { response: authenticator.use(passkeyOptionsOf(asked)) }, "passkey");
  assert.match(refused.text, / data-unknown="[\w-]+" hidden>/);
});

test("the script of the ceremonies is one file for everybody, which the page's policy names", async () => {
  const visitor = createVisitor(account);
  const shown = await visitor.open((await startSignIn(account)).url);
  const policy = shown.headers.get("content-security-policy") ?? "";
  assert.ok(policy.includes(`script-src ${issuer}/passkeys.js;`), policy);
  assert.doesNotMatch(shown.text, /<script(?! src=)|\son[a-z]+=/);
  const script = await visitor.open(`${issuer}/passkeys.js`);
  assert.equal(script.headers.get("content-type"), "text/javascript; charset=utf-8");
  assert.match(script.headers.get("cache-control") ?? "", /max-age=300/);
});
