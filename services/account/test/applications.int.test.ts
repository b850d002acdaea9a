import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "@signalbox/testing";
import * as openid from "openid-client";
import type { Harness } from "./harness.ts";
import { baseUrl, bearer, claimsOf, discover, startIssuer, tablesWith } from "./oauth-fixture.ts";
import { createVisitor, passThrough, signedIn, startSignIn, type Visitor } from "./oauth-visitor.ts";

let account: Harness;
let administrator: Record<string, string>;
before(async () => {
  account = await startIssuer();
  administrator = { "x-api-key": await account.firstKey() };
});
after(() => account.close());

const path = "/api/v1/oauth/applications";
const redirect = "https://harbour.example/back";
const server = { name: "Harbour", type: "server", redirect_uris: [redirect], scopes: ["account:read", "images:read"] };
const foreign = { ...server, type: "browser", party: "third" };

const create = (body: object, headers = administrator) => account.send("POST", path, { headers, body });

async function created(body: object) {
  const answer = await create(body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body as Record<string, string>;
}

/** Signs in to an application without a secret, up to the page after the code. */
async function started(client: string, scope: string, more: Record<string, string> = {}) {
  const visitor = createVisitor(account);
  const { url, finish, configuration } = await startSignIn(account, { client, redirect, scope, more });
  return { visitor, url, finish, configuration, address: `${crypto.randomUUID()}@example.org` };
}

test("an application is created, read, listed, changed and deleted by an administrator, over REST and the graph", async () => {
  const first = await created(server);
  assert.match(first.client_id ?? "", /^app_/);
  assert.match(first.client_secret ?? "", /^sbx_app_/);
  assert.deepEqual([first.party, first.consent, first.type], ["first", "none", "server"]);
  assert.deepEqual(await tablesWith(account, first.client_secret ?? ""), [], "the secret is stored nowhere");
  const one = `${path}/${first.id}`;
  const read = await account.send("GET", one, { headers: administrator });
  assert.equal(read.body.client_secret, undefined);
  const list = await account.send("GET", path, { headers: administrator });
  assert.ok(list.body.items.some(({ id }: { id: string }) => id === first.id));
  const stale = { ...administrator, "if-match": '"other"' };
  assert.equal((await account.send("PATCH", one, { headers: stale, body: { name: "x" } })).status, 409);
  const changed = await account.send("PATCH", one, { headers: administrator, body: { name: "Harbour log" } });
  assert.deepEqual([changed.status, changed.body.name], [200, "Harbour log"]);
  const text = `mutation { updateOauthApplication(input: { id: "${first.id}", scopes: ["images:read"] }) {
    oauthApplication { name scopes secrets { id endsAt } } errors { message } } }`;
  const { data } = await account.query(administrator, text);
  assert.deepEqual(data.updateOauthApplication.oauthApplication.scopes, ["images:read"]);
  const found = await account.query(administrator, `{ oauthApplication(id: "${first.id}") { name scopes } }`);
  assert.deepEqual(found.data.oauthApplication, { name: "Harbour log", scopes: ["images:read"] });
  assert.equal((await account.send("DELETE", one, { headers: administrator })).status, 204);
  assert.equal((await account.send("GET", one, { headers: administrator })).status, 404);
  const audit = await account.send("GET", "/api/account/audit/?limit=20", { headers: administrator });
  const actions = audit.body.items
    .filter(({ subject }: { subject: string }) => subject === first.id)
    .map(({ action, fields }: { action: string; fields: string[] }) => `${action} ${fields.join()}`.trim());
  assert.deepEqual(actions, [
    "application.delete",
    "application.update scopes",
    "application.update name",
    "application.create",
  ]);
});

test("each change of an application is one event without its secret", async () => {
  const { id = "", client_secret = "" } = await created(server);
  const one = `${path}/${id}`;
  const patch = (body: object) => account.send("PATCH", one, { headers: administrator, body });
  assert.equal((await patch({ name: "Harbour log", scopes: ["images:read"] })).status, 200);
  assert.equal((await patch({ name: "Harbour log" })).status, 200, "the same name changes nothing");
  assert.equal((await patch({ redirect_uris: [] })).status, 422);
  assert.equal((await create({ ...server, redirect_uris: [] })).status, 422);
  const rotated = await account.send("POST", `${one}/secret/rotate`, { headers: administrator, body: {} });
  assert.equal(rotated.status, 200);
  const removal = () => account.send("DELETE", `${one}/secret/previous`, { headers: administrator });
  assert.deepEqual([(await removal()).status, (await removal()).status], [204, 204]);
  assert.equal((await account.send("DELETE", one, { headers: administrator })).status, 204);

  const events = await eventually(async () => {
    const own = (await account.eventsOf(null, 1)).filter(({ subject }) => subject === id);
    return own.some(({ name }) => name === "application.deleted") && own;
  });
  const data = events.map((event) => event.data as { name: string; changed: string[] });
  assert.deepEqual(
    events.map(({ name }, at) => [name, data[at]?.name, data[at]?.changed]),
    [
      ["application.created", "Harbour", []],
      ["application.updated", "Harbour log", ["name", "scopes"]],
      ["application.updated", "Harbour log", ["client_secret"]],
      ["application.updated", "Harbour log", ["client_secret"]],
      ["application.deleted", "Harbour log", []],
    ],
  );
  const text = JSON.stringify(events);
  for (const secret of [client_secret, rotated.body.client_secret, "aps_"]) assert.ok(!text.includes(secret), secret);
});

test("only an administrator with a recent sign-in manages applications", async () => {
  const person = await signedIn(account, {
    client: "console",
    redirect: `${baseUrl}/console/callback`,
    scope: "openid account:read account:security",
  });
  for (const [method, at] of [
    ["GET", path],
    ["POST", path],
    ["GET", `${path}/app_x`],
    ["DELETE", `${path}/app_x`],
  ] as const) {
    const answer = await account.send(method, at, {
      headers: bearer(person.access_token),
      body: method === "POST" ? server : undefined,
    });
    assert.equal(answer.status, 403, `${method} ${at}`);
  }
});

test("a refusal of what does not fit together names its field", async () => {
  const wrong: readonly (readonly [object, string])[] = [
    [{ ...server, redirect_uris: [] }, "redirect_uris"],
    [{ ...server, redirect_uris: ["http://harbour.example/back"] }, "redirect_uris[0]"],
    [{ ...server, redirect_uris: ["https://a.example/", "org.harbour.app:/back"] }, "redirect_uris[1]"],
    [{ ...server, redirect_uris: ["javascript:alert(1)//x.y"] }, "redirect_uris[0]"],
    [{ ...server, redirect_uris: ["https://user:pass@harbour.example/"] }, "redirect_uris[0]"],
    [{ ...server, redirect_uris: ["https://harbour.example/#back"] }, "redirect_uris[0]"],
    [{ ...server, post_logout_redirect_uris: ["org.harbour.app:/bye"] }, "post_logout_redirect_uris[0]"],
    [{ ...server, type: "device" }, "redirect_uris"],
    [{ ...server, party: "third", consent: "none" }, "consent"],
    [{ ...server, scopes: ["everything"] }, "scopes[0]"],
    [{ ...server, logo_url: "http://harbour.example/logo.svg" }, "logo_url"],
    [{ ...server, logo_url: "https://harbour.example/a;script-src *" }, "logo_url"],
    [{ ...server, name: "Har\u202Ebour" }, "name"],
    [{ ...server, secret: "mine" }, "secret"],
  ];
  for (const [body, field] of wrong) {
    const { status, body: answer } = await create(body);
    assert.equal(status, 422, JSON.stringify(body));
    assert.ok(
      answer.error.details.some((detail: { field: string }) => detail.field === field),
      `${field}: ${JSON.stringify(answer.error.details)}`,
    );
  }
});

test("each rotation leaves the old secret of a server its overlap", async () => {
  const { id = "", client_secret: secret = "" } = await created(server);
  const { url, finish } = await (async () => {
    const configuration = await discover(account, id, openid.ClientSecretBasic(secret));
    const verifier = openid.randomPKCECodeVerifier();
    const url = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: redirect,
      scope: "openid account:read account:write",
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
    return {
      url,
      finish: (back: URL) => openid.authorizationCodeGrant(configuration, back, { pkceCodeVerifier: verifier }),
    };
  })();
  const back = await passThrough(createVisitor(account), account, url, `${crypto.randomUUID()}@example.org`);
  const tokens = await finish(back);
  assert.equal(claimsOf(tokens.access_token).scope, "openid account:read", "nothing beyond its scopes");
  const tryWith = async (text: string) => {
    const configuration = await discover(account, id, openid.ClientSecretPost(text));
    return openid.refreshTokenGrant(configuration, "unknown").catch(({ error }) => error as string);
  };
  assert.equal(await tryWith(secret), "invalid_grant", "the secret is right, the refresh token is not");
  assert.equal(await tryWith(`${secret.slice(0, -1)}${secret.endsWith("0") ? "1" : "0"}`), "invalid_client");
  const rotate = `${path}/${id}/secret/rotate`;
  const second = (await account.send("POST", rotate, { headers: administrator, body: {} })).body.client_secret;
  assert.deepEqual([await tryWith(secret), await tryWith(second)], ["invalid_grant", "invalid_grant"]);
  assert.equal((await account.send("POST", rotate, { headers: administrator, body: {} })).status, 409);
  const ended = await account.send("DELETE", `${path}/${id}/secret/previous`, { headers: administrator });
  assert.equal(ended.status, 204);
  assert.deepEqual([await tryWith(secret), await tryWith(second)], ["invalid_client", "invalid_grant"]);
  const third = await account.send("POST", rotate, { headers: administrator, body: { overlap_seconds: 0 } });
  assert.deepEqual(
    [await tryWith(second), await tryWith(third.body.client_secret)],
    ["invalid_client", "invalid_grant"],
  );
  const page = await created({ ...server, type: "browser" });
  assert.equal(page.client_secret, null);
  const none = await account.send("POST", `${path}/${page.id}/secret/rotate`, { headers: administrator, body: {} });
  assert.equal(none.status, 409);
});

const press = (visitor: Visitor, page: { url: URL; text: string }, step: string) =>
  visitor.submit(page as Awaited<ReturnType<Visitor["open"]>>, {}, step);

/** Signs in and returns the page that asks for consent. */
async function askedForConsent(client: string, scope: string) {
  const { visitor, url, finish, address } = await started(client, scope);
  const before = await passThrough(visitor, account, url, address);
  return { visitor, finish, url, address, question: await visitor.open(before) };
}

test("an application of somebody else shows what it asks for, and gets that and no more once the person allows it", async () => {
  const { id = "" } = await created({ ...foreign, name: "Harbour <b>" });
  const { visitor, finish, url, question } = await askedForConsent(
    id,
    "openid offline_access account:read account:write",
  );
  assert.equal(question.status, 200);
  for (const shown of ["Harbour &lt;b&gt;", "account:read", "was not made by the people who run"]) {
    assert.ok(question.text.includes(shown), shown);
  }
  assert.ok(!question.text.includes("account:write"), "what it cannot have is not asked for");
  const tokens = await finish((await press(visitor, question, "allow")).url);
  const claims = claimsOf(tokens.access_token);
  assert.deepEqual([claims.scope, claims.named_scopes_only], ["openid account:read", true]);
  const own = await account.send("GET", "/api/account/", { headers: bearer(tokens.access_token) });
  assert.equal(own.status, 200);
  const rename = { headers: bearer(tokens.access_token), body: { display_name: "x" } };
  assert.equal((await account.send("PATCH", "/api/account/", rename)).status, 403);
  const again = await startSignIn(account, { client: id, redirect, scope: "openid account:read" });
  const known = await visitor.open(again.url);
  assert.equal(known.url.origin, "https://harbour.example", "in the same sign-in it is not asked twice");
  const more = await startSignIn(account, { client: id, redirect, scope: "openid account:read images:read" });
  assert.match((await visitor.open(more.url)).text, /images:read/, "but for more it is");
  assert.ok(url);
  const audit = await account.send("GET", "/api/account/audit/?action=application.consent", {
    headers: bearer(tokens.access_token),
  });
  const [{ subject, reason }] = audit.body.items;
  assert.deepEqual([subject, reason], [id, "openid offline_access account:read"]);
});

test("a granted consent is an event of the person's account", async () => {
  const { id = "" } = await created(foreign);
  const { visitor, finish, question } = await askedForConsent(id, "openid account:read");
  const { access_token } = await finish((await press(visitor, question, "allow")).url);
  const accountId = String(claimsOf(access_token).account_id);
  const data = await eventually(async () => {
    const events = await account.eventsOf(accountId, 1);
    return events.find(({ name }) => name === "consent.granted")?.data ?? null;
  });
  assert.deepEqual(
    { ...data, address: null },
    { account_id: accountId, application: id, address: null, scopes: ["openid", "account:read"], changed: [] },
  );
});

test("a person who does not allow it goes back without a code", async () => {
  const { id = "" } = await created(foreign);
  const { visitor, question } = await askedForConsent(id, "openid account:read");
  const forged = await visitor.submit(question, { guard: "x" }, "allow");
  assert.equal(forged.status, 400);
  const wrongStep = await visitor.submit(question, { step: "code", code: "12345678" }, "allow");
  assert.equal(wrongStep.status, 400, "a step of another prompt is none");
  const { searchParams } = (await press(visitor, question, "deny")).url;
  assert.deepEqual([searchParams.get("error"), searchParams.get("code")], ["access_denied", null]);
});

test("an application that only signs people in gets a token that may do nothing", async () => {
  const { id = "" } = await created({ ...foreign, scopes: [] });
  const { visitor, finish, question } = await askedForConsent(id, "openid email");
  const tokens = await finish((await press(visitor, question, "allow")).url);
  const own = await account.send("GET", "/api/account/", { headers: bearer(tokens.access_token) });
  assert.equal(own.status, 403);
});

test("the tokens of a deleted application end within two seconds", async () => {
  const { id = "" } = await created({ ...foreign, party: "first", consent: "none" });
  const { visitor, url, finish, configuration, address } = await started(id, "openid offline_access account:read");
  const tokens = await finish(await passThrough(visitor, account, url, address));
  const readIt = async () =>
    (await account.send("GET", "/api/account/", { headers: bearer(tokens.access_token) })).status;
  assert.equal(await readIt(), 200);
  assert.equal((await account.send("DELETE", `${path}/${id}`, { headers: administrator })).status, 204);
  await eventually(async () => (await readIt()) === 401, { timeoutMs: 2000 });
  await assert.rejects(openid.refreshTokenGrant(configuration, tokens.refresh_token ?? ""), {
    error: "invalid_client",
  });
  assert.equal((await visitor.open(url)).status, 400);
});
