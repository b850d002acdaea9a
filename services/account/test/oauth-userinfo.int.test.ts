import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "@signalbox/testing";
import * as openid from "openid-client";
import type { Harness } from "./harness.ts";
import { baseUrl, bearer, claimsOf, clientToken, issuer, makeClient, startIssuer, through } from "./oauth-fixture.ts";
import { applications, signedIn } from "./oauth-visitor.ts";

let account: Harness;
let administrator: Record<string, string>;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications });
  administrator = { "x-api-key": await account.firstKey() };
});
after(() => account.close());

const endpoint = `${baseUrl}/oauth/userinfo`;
const ask = (headers: Record<string, string> = {}, options: RequestInit = {}) =>
  through(account)(endpoint, { headers, ...options });
const challengeOf = (answer: Response) => [answer.status, answer.headers.get("www-authenticate")] as const;

test("openid-client finds the endpoint by discovery, and gets the claims of the granted scopes", async () => {
  const all = await signedIn(account, { scope: "openid profile email account:read" });
  assert.equal(all.configuration.serverMetadata().userinfo_endpoint, endpoint);
  const sub = String(all.idClaims?.sub);
  const own = (await account.send("GET", "/api/account/", { headers: bearer(all.access_token) })).body;
  assert.deepEqual(await openid.fetchUserInfo(all.configuration, all.access_token, sub), {
    sub,
    email: all.address,
    email_verified: true,
    name: own.display_name,
    locale: own.locale,
    zoneinfo: own.timezone,
  });
  const bare = await signedIn(account, { address: all.address });
  assert.deepEqual(await openid.fetchUserInfo(bare.configuration, bare.access_token, sub), { sub });
  const refreshed = await signedIn(account, { scope: "openid email offline_access", address: all.address });
  const narrower = await openid.refreshTokenGrant(refreshed.configuration, refreshed.refresh_token ?? "", {
    scope: "openid",
  });
  assert.deepEqual(await openid.fetchUserInfo(refreshed.configuration, narrower.access_token, sub), { sub });
});

test("the scopes about the person change nothing of what the token may do here", async () => {
  const { access_token: token } = await signedIn(account, { scope: "openid profile account:read" });
  assert.equal(claimsOf(token).scope, "openid profile account:read");
  const body = { display_name: "x" };
  assert.equal((await account.send("PATCH", "/api/account/", { headers: bearer(token), body })).status, 403);
  const { access_token: whole } = await signedIn(account, { scope: "openid profile" });
  assert.equal((await account.send("PATCH", "/api/account/", { headers: bearer(whole), body })).status, 200);
});

const metadata = `resource_metadata="${new URL(baseUrl).origin}/.well-known/oauth-protected-resource/house"`;

test("a challenge tells the address of our metadata", async () => {
  for (const headers of [{}, bearer("made-up")]) {
    const [status, challenge] = challengeOf(await ask(headers));
    assert.deepEqual([status, challenge?.endsWith(`, ${metadata}`)], [401, true], challenge ?? "none");
  }
});

test("POST takes the token in the header or in the form, and one of them", async () => {
  const { access_token: token, idClaims } = await signedIn(account);
  const form = new URLSearchParams({ access_token: token });
  for (const [headers, body] of [[bearer(token), undefined] as const, [{}, form] as const]) {
    const answer = await ask(headers, { method: "POST", ...(body && { body }) });
    assert.deepEqual([answer.status, await answer.json()], [200, { sub: idClaims?.sub }]);
    assert.equal(answer.headers.get("cache-control"), "no-store");
  }
  assert.equal((await ask(bearer(token), { method: "POST", body: form })).status, 400);
});

test("a refused token gets the challenge of RFC 6750", async () => {
  const person = await signedIn(account);
  assert.deepEqual(challengeOf(await ask()), [401, `Bearer realm="${baseUrl}/oauth", ${metadata}`]);
  const { access_token: closed } = await signedIn(account, { scope: "account:read" });
  const [status, challenge] = challengeOf(await ask(bearer(closed)));
  assert.equal(status, 403);
  assert.match(challenge ?? "", /error="insufficient_scope".* scope="openid"/);
  const client = await clientToken(account, await makeClient(account, administrator, ["account:read"]));
  const [header, payload] = person.access_token.split(".");
  for (const token of [`${header}.${payload}.x`, client.access_token, "opaque", administrator["x-api-key"] ?? ""]) {
    const [status, challenge] = challengeOf(await ask(bearer(token)));
    assert.equal(status, 401, token);
    assert.match(challenge ?? "", /^Bearer realm=".*", error="invalid_token"/);
  }
  await openid.tokenRevocation(person.configuration, person.access_token);
  assert.equal(challengeOf(await ask(bearer(person.access_token)))[0], 401);
});

test("a page of the application reads the answer, a page of another origin does not", async () => {
  const { access_token: token } = await signedIn(account);
  const from = async (origin: string) =>
    (await ask({ ...bearer(token), origin })).headers.get("access-control-allow-origin");
  assert.equal(await from("https://console.example"), "https://console.example");
  assert.equal(await from("https://evil.example"), null);
  const preflight = await ask(
    {
      origin: "https://console.example",
      "access-control-request-method": "GET",
      "access-control-request-headers": "authorization",
    },
    { method: "OPTIONS" },
  );
  assert.deepEqual([preflight.status, preflight.headers.get("access-control-allow-headers")], [204, "authorization"]);
});

test("an application that asks too often is told when to go on", async () => {
  const busy = await startIssuer({
    "account.oauth.applications": applications,
    "account.oauth.client-requests": 3,
  });
  const { access_token: token } = await signedIn(busy);
  const asked = () => through(busy)(endpoint, { headers: bearer(token) });
  const statuses = [];
  for (let count = 0; count < 4; count++) statuses.push((await asked()).status);
  assert.equal(statuses.at(-1), 429);
  assert.ok(Number((await asked()).headers.get("retry-after")) > 0);
  await busy.close();
});

const offline = "openid offline_access account:read account:security";
const keeps = /these applications keep access to your account: Console &lt;b&gt;\./;
const listed = async (token: string) =>
  (await account.send("GET", "/api/account/sign-ins/", { headers: bearer(token) })).body.items?.length;

test("a sign-out names the applications that keep access, and says on the last page that they have it", async () => {
  const { visitor, configuration, refresh_token = "" } = await signedIn(account, { scope: offline });
  const page = await visitor.open(`${issuer}/end-session`);
  assert.match(page.text, keeps);
  const last = await visitor.submit(page, { logout: "yes" });
  assert.match(last.text, /Some applications still have access/);
  const again = await openid.refreshTokenGrant(configuration, refresh_token);
  assert.equal(await listed(again.access_token), 1, "and the list of sign-ins shows it");
});

for (const initiated of ["by the person", "by the application"] as const) {
  test(`a sign-out ${initiated} ends that access too where the person says so`, async () => {
    const person = await signedIn(account, { scope: offline });
    const { visitor, configuration, refresh_token = "", id_token = "", address } = person;
    const back = { id_token_hint: id_token, post_logout_redirect_uri: "https://console.example/bye" };
    const byPerson = initiated === "by the person";
    const url = byPerson ? `${issuer}/end-session` : openid.buildEndSessionUrl(configuration, back);
    const page = await visitor.open(url);
    assert.match(page.text, keeps);
    const last = await visitor.submit(page, { logout: "all" });
    if (byPerson) assert.doesNotMatch(last.text, /keep access/);
    else assert.equal(last.url.href, "https://console.example/bye");
    await assert.rejects(openid.refreshTokenGrant(configuration, refresh_token), { error: "invalid_grant" });
    const read = () => account.send("GET", "/api/account/", { headers: bearer(person.access_token) });
    await eventually(async () => (await read()).status === 401);
    const { access_token: token } = await signedIn(account, { scope: offline, address });
    const headers = bearer(token);
    const { items } = (await account.send("GET", "/api/account/audit/?action=sign_in.end", { headers })).body;
    assert.deepEqual([items.length, await listed(token)], [1, 1]);
  });
}

test("where no application keeps access, nothing more is asked and nothing more is said", async () => {
  const bare = await signedIn(account);
  const page = await bare.visitor.open(`${issuer}/end-session`);
  assert.doesNotMatch(page.text, /keep access|value="all"/);
  assert.doesNotMatch((await bare.visitor.submit(page, { logout: "yes" })).text, /keep access/);
  const { visitor, configuration, refresh_token = "" } = await signedIn(account, { scope: offline });
  await openid.tokenRevocation(configuration, refresh_token);
  assert.doesNotMatch((await visitor.open(`${issuer}/end-session`)).text, /keep access/, "it was revoked before");
});
