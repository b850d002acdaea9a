import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "@signalbox/storage";
import { eventually } from "@signalbox/testing";
import * as openid from "openid-client";
import type { Harness } from "./harness.ts";
import { baseUrl, claimsOf, databaseOf, discover, headerOf, issuer, startIssuer, through } from "./oauth-fixture.ts";
import {
  application,
  applications,
  createVisitor,
  formTo,
  passThrough,
  signedIn,
  startSignIn,
} from "./oauth-visitor.ts";

let account: Harness;
let administrator: Record<string, string>;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications });
  administrator = { "x-api-key": await account.firstKey() };
});
after(() => account.close());

const redirect = "https://harbour.example/back";

async function createApplication(more: object): Promise<{ id: string; client_secret: string }> {
  const wanted = { name: "Harbour", type: "browser", redirect_uris: [redirect], scopes: ["account:read"] };
  const body = { ...wanted, ...more };
  const answer = await account.send("POST", "/api/v1/oauth/applications", { headers: administrator, body });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
}

const algorithmOf = (token = "") => headerOf(token).alg;

test("ID tokens are signed with RS256, access tokens with ES256", async () => {
  const person = await signedIn(account, { scope: "openid account:read" });
  assert.deepEqual([algorithmOf(person.id_token), algorithmOf(person.access_token)], ["RS256", "ES256"]);
});

test("an application that asks for ID tokens with ES256 gets them from its next sign-in on", async () => {
  const { id } = await createApplication({ id_token_signed_response_alg: "ES256" });
  assert.equal(algorithmOf((await signedIn(account, { client: id, redirect })).id_token), "ES256");
  const body = { id_token_signed_response_alg: "RS256" };
  const changed = await account.send("PATCH", `/api/v1/oauth/applications/${id}`, { headers: administrator, body });
  assert.deepEqual([changed.status, changed.body.id_token_signed_response_alg], [200, "RS256"]);
  assert.equal(algorithmOf((await signedIn(account, { client: id, redirect })).id_token), "RS256");
});

test("the key of ID tokens rotates like the other one", async () => {
  const instance = await startIssuer({ "account.oauth.applications": applications });
  const pool = databaseOf(instance);
  const published = async (): Promise<string[]> => {
    const answer = await fetch(`${instance.url}/oauth/jwks`);
    const { keys } = (await answer.json()) as { keys: { kid: string; alg: string }[] };
    return keys.filter(({ alg }) => alg === "RS256").map(({ kid }) => kid);
  };
  const [old] = await published();
  await pool.query(sql("", "update oauth_signing_keys set active_from = active_from - interval '31 days'"));
  const both = await eventually(async () => {
    const found = await published();
    return found.length === 2 && found;
  });
  const [fresh] = both.filter((kid) => kid !== old);
  assert.equal(headerOf((await signedIn(instance)).id_token ?? "").kid, old, "the new key is published first");
  await pool.query(sql("", "update oauth_signing_keys set active_from = now() where kid = $1"), [fresh]);
  await eventually(async () => (await published())[0] === fresh);
  assert.equal(headerOf((await signedIn(instance)).id_token ?? "").kid, fresh);
  await instance.close();
});

for (const asked of ["openid", "openid profile email account:read", "account:read openid account:admin unknown"]) {
  test(`the answer tells the scope of the token, asked for ${asked}`, async () => {
    const person = await signedIn(account, { scope: asked });
    const told = asked.replace(" account:admin unknown", "");
    const names = (scope: unknown) => String(scope).split(" ").sort();
    assert.deepEqual(names(person.scope), names(claimsOf(person.access_token).scope));
    assert.deepEqual(names(person.scope), names(told));
  });
}

test("a refresh with the scope that was told gets the same tokens", async () => {
  const person = await signedIn(account, { scope: "openid profile offline_access account:read" });
  const { refresh_token = "", scope = "" } = person;
  const again = await openid.refreshTokenGrant(person.configuration, refresh_token, { scope });
  assert.deepEqual([again.scope, claimsOf(again.access_token).scope], [scope, scope]);
  assert.deepEqual(again.claims()?.name, person.idClaims?.name);
});

test("a server application introspects its own tokens alone", async () => {
  const own = await createApplication({ type: "server" });
  const visitor = createVisitor(account);
  const configuration = await discover(account, own.id, openid.ClientSecretBasic(own.client_secret));
  const verifier = openid.randomPKCECodeVerifier();
  const url = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: redirect,
    scope: "openid account:read",
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  const back = await passThrough(visitor, account, url, `${crypto.randomUUID()}@example.org`);
  const tokens = await openid.authorizationCodeGrant(configuration, back, { pkceCodeVerifier: verifier });
  const { active, scope, client_id } = await openid.tokenIntrospection(configuration, tokens.access_token);
  assert.deepEqual([active, scope, client_id], [true, "openid account:read", own.id]);
  const others = await signedIn(account, { scope: "openid account:read" });
  assert.deepEqual(await openid.tokenIntrospection(configuration, others.access_token), { active: false });
});

test("a public application introspects nothing, not even its own token", async () => {
  const person = await signedIn(account, { scope: "openid account:read" });
  assert.deepEqual(await openid.tokenIntrospection(person.configuration, person.access_token), { active: false });
});

test("our resource with a trailing slash is our resource, at the sign-in as at a refresh", async () => {
  const resource = `${baseUrl}/`;
  const { url, finish, configuration } = await startSignIn(account, {
    scope: "openid offline_access account:read",
    more: { resource },
  });
  const back = await passThrough(createVisitor(account), account, url, `${crypto.randomUUID()}@example.org`);
  const first = await finish(back);
  assert.equal(claimsOf(first.access_token).aud, baseUrl);
  const second = await openid.refreshTokenGrant(configuration, first.refresh_token ?? "", { resource });
  assert.equal(claimsOf(second.access_token).aud, baseUrl);
});

test("a posted request for a sign-in is the same as one in a query", async () => {
  const { url, finish } = await startSignIn(account);
  const target = `${url.origin}${url.pathname}`;
  const posted = await through(account)(target, { method: "POST", body: url.searchParams });
  assert.equal(posted.status, 303);
  const repeated = new URL(posted.headers.get("location") ?? "");
  assert.equal(repeated.href.split("?")[0], `${issuer}/authorize`);
  const back = await passThrough(createVisitor(account), account, repeated, `${crypto.randomUUID()}@example.org`);
  assert.ok((await finish(back)).id_token);
});

test("a posted request that is no form, or too large for a query, is refused", async () => {
  const post = async (body: unknown, type: string) => {
    const headers = { "content-type": type };
    return (await through(account)(`${issuer}/authorize`, { method: "POST", headers, body })).status;
  };
  assert.equal(await post("{}", "application/json"), 415);
  assert.equal(await post(`state=${"a".repeat(9000)}`, "application/x-www-form-urlencoded"), 413);
});

test("an answer is posted to an application that asks for it, by a script or by a button", async () => {
  const { url, finish } = await startSignIn(account, { more: { response_mode: "form_post" } });
  const visitor = createVisitor(account);
  await passThrough(visitor, account, url, `${crypto.randomUUID()}@example.org`);
  // The session of the first sign-in answers at once.
  const page = await visitor.open(url);
  const answer = formTo(application.redirect_uris[0] ?? "", page.text);
  assert.ok(answer);
  assert.deepEqual([...answer.keys()].sort(), ["code", "iss", "state"]);
  const [, script] = /<script src="([^"]*)"/.exec(page.text) ?? [];
  assert.equal(script, `${issuer}/submit.js`);
  const code = await (await through(account)(script ?? "")).text();
  assert.match(code, /submit\(\)/);
  assert.ok((await finish(new URL(`${application.redirect_uris[0]}?${answer}`))).id_token);
});

test("a refusal is posted where an answer would be", async () => {
  const { url } = await startSignIn(account, { more: { response_mode: "form_post", prompt: "none" } });
  const page = await createVisitor(account).open(url);
  assert.match(page.text, /name="error" value="login_required"/);
});

test("a response mode or type that we do not have is refused by a redirect with its code", async () => {
  for (const [more, error] of [
    [{ response_mode: "web_message" }, "unsupported_response_mode"],
    [{ response_mode: "jwt" }, "unsupported_response_mode"],
    [{ response_type: "code id_token" }, "unsupported_response_type"],
    [{ response_type: "token" }, "unsupported_response_type"],
  ] as const) {
    const { url } = await startSignIn(account, { more });
    const { url: back } = await createVisitor(account).open(url);
    const told = new URLSearchParams(back.hash.slice(1) || back.search);
    assert.deepEqual([`${back.origin}${back.pathname}`, told.get("error")], [application.redirect_uris[0], error]);
  }
});
