import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createFormVisitor, createScriptedProvider, type ScriptedProvider } from "@signalbox/testing";
import { corp, type ForeignPerson, startForeignProvider } from "./foreign-provider.ts";
import type { Harness } from "./harness.ts";
import { baseUrl, bearer, claimsOf, issuer, startIssuer } from "./oauth-fixture.ts";
import {
  application,
  applications,
  codeTo,
  createVisitor,
  signedIn,
  startSignIn,
  type Visitor,
} from "./oauth-visitor.ts";

let account: Harness;
let foreign: Awaited<ReturnType<typeof startForeignProvider>>;
let hostile: ScriptedProvider;
const domain = "corp.example";

before(async () => {
  [foreign, hostile] = await Promise.all([startForeignProvider(), createScriptedProvider()]);
  const evil = { name: "evil", title: "Evil", client_id: "signalbox", issuer: hostile.issuer };
  account = await startIssuer({
    "account.oauth.applications": applications,
    "account.identity-providers": JSON.stringify([{ ...corp, issuer: foreign.issuer, domains: [domain] }, evil]),
    "account.outbound.allow": ["127.0.0.1:*"],
  });
});
after(() => Promise.all([account.close(), foreign.close(), hostile.close()]));

const person = (more: Partial<ForeignPerson> = {}): ForeignPerson => ({
  sub: crypto.randomUUID(),
  email: `${crypto.randomUUID()}@example.org`,
  email_verified: true,
  name: "Ada of Corp",
  ...more,
});

/** Starts a sign-in and follows the link to the provider; returns the provider's address. */
async function leaveFor(visitor: Visitor, name: string, more: Record<string, string> = {}) {
  const { url, finish } = await startSignIn(account, { scope: "openid account:read account:security", more });
  const first = await visitor.open(url);
  const { url: there } = await visitor.open(linkTo(first.text, name));
  return { first, there, finish };
}

function linkTo(text: string, name: string): string {
  const [, path = ""] = new RegExp(`href="([^"]*/with/${name})"`).exec(text) ?? [];
  return new URL(path, baseUrl).href;
}

/** Passes the provider and returns the address that it leads back to. */
const passProvider = async (there: URL): Promise<URL> => (await createFormVisitor(foreign.issuer).open(there)).url;

/** Signs in with the provider; the page that the browser then shows, or the application's address. */
async function signInWithCorp(who: ForeignPerson | null, visitor = createVisitor(account), at?: number) {
  foreign.expect(who, at);
  const { there, finish } = await leaveFor(visitor, "corp");
  const page = await visitor.open(await passProvider(there));
  return { page, finish, visitor };
}

test("the sign-in page offers each provider by its title", async () => {
  const { url } = await startSignIn(account);
  const { text } = await createVisitor(account).open(url);
  assert.match(text, /Continue with Corp &lt;b&gt;<\/a>/);
  assert.match(text, /Continue with Evil<\/a>/);
});

test("an address at a provider's domain is offered the provider", async () => {
  const visitor = createVisitor(account);
  const { url } = await startSignIn(account);
  const offer = await visitor.submit(await visitor.open(url), { address: `ada@${domain}` }, "address");
  assert.match(offer.text, new RegExp(`People with the address ada@${domain} sign in with Corp`));
  const { url: there } = await visitor.open(linkTo(offer.text, "corp"));
  assert.equal(there.searchParams.get("login_hint"), `ada@${domain}`);
});

test("an address at a provider's domain may have a code all the same", async () => {
  const visitor = createVisitor(account);
  const { url } = await startSignIn(account);
  const address = `${crypto.randomUUID()}@${domain}`;
  const offer = await visitor.submit(await visitor.open(url), { address }, "address");
  const asked = await visitor.submit(offer, {}, "address");
  const { url: back } = await visitor.submit(asked, { code: await codeTo(account, address) }, "code");
  assert.ok(back.href.startsWith(application.redirect_uris[0] ?? ""));
});

test("the request to a provider has PKCE, a state, a nonce", async () => {
  const { there } = await leaveFor(createVisitor(account), "corp");
  const request = Object.fromEntries(there.searchParams);
  assert.deepEqual(
    [request.response_type, request.client_id, request.code_challenge_method, request.redirect_uri],
    ["code", corp.client_id, "S256", `${issuer}/callback/corp`],
  );
  for (const name of ["state", "nonce", "code_challenge"]) assert.ok((request[name] ?? "").length >= 32, name);
});

test("a new person of a provider gets an account where registration is open", async () => {
  const who = person();
  const { page, finish } = await signInWithCorp(who);
  const headers = bearer((await finish(page.url)).access_token);
  const { body } = await account.send("GET", "/api/account/", { headers });
  assert.deepEqual(
    [body.display_name, body.contact_address, body.contact_address_verified],
    ["Ada of Corp", who.email, true],
  );
});

test("the same identity signs in to the same account after its address has changed", async () => {
  const who = person();
  const first = await signInWithCorp(who);
  const { sub } = claimsOf((await first.finish(first.page.url)).access_token);
  const again = await signInWithCorp({ ...who, email: `${crypto.randomUUID()}@example.org` });
  assert.equal(claimsOf((await again.finish(again.page.url)).access_token).sub, sub);
});

test("a verified address joins an account once its owner has signed in to it as before", async () => {
  const { address, idClaims } = await signedIn(account);
  const who = person({ email: address });
  const { page, finish, visitor } = await signInWithCorp(who);
  assert.match(page.text, /Is this your account\?/);
  const asked = await visitor.submit(page, {}, "address");
  const proven = await visitor.submit(asked, { code: await codeTo(account, address, 2) }, "code");
  assert.match(proven.text, /Connect Corp &lt;b&gt;\?/);
  const { url } = await visitor.submit(proven, {}, "connect");
  assert.equal(claimsOf((await finish(url)).access_token).sub, idClaims?.sub);
  const again = await signInWithCorp(who);
  assert.equal(claimsOf((await again.finish(again.page.url)).access_token).sub, idClaims?.sub);
});

test("an owner who does not consent signs in without the provider", async () => {
  const { address, idClaims } = await signedIn(account);
  const who = person({ email: address });
  const { page, finish, visitor } = await signInWithCorp(who);
  const asked = await visitor.submit(page, {}, "address");
  const proven = await visitor.submit(asked, { code: await codeTo(account, address, 2) }, "code");
  const { url } = await visitor.submit(proven, {}, "skip");
  const { access_token: token } = await finish(url);
  assert.equal(claimsOf(token).sub, idClaims?.sub);
  const { items } = (await account.send("GET", "/api/account/identities/", { headers: bearer(token) })).body;
  assert.deepEqual(
    items.map((one: { issuer: string }) => one.issuer),
    ["signalbox"],
  );
});

test("a consent without a sign-in to an account connects nothing", async () => {
  const { address } = await signedIn(account);
  const { page, visitor } = await signInWithCorp(person({ email: address }));
  const refused = await visitor.submit(page, { step: "connect" }, "address");
  assert.equal(refused.status, 400);
});

test("an address that the provider has not verified joins no account", async () => {
  const { address } = await signedIn(account);
  const { page } = await signInWithCorp(person({ email: address, email_verified: false }));
  assert.deepEqual([page.status, /does not confirm that you have an e-mail address/.test(page.text)], [403, true]);
});

test("an address that the provider has not verified makes no account", async () => {
  const { page } = await signInWithCorp({ sub: crypto.randomUUID() });
  assert.equal(page.status, 403);
});

test("a refusal at the provider leads to a page with the other ways", async () => {
  const { page, visitor } = await signInWithCorp(null);
  assert.deepEqual([page.status, /cancelled or refused there/.test(page.text)], [403, true]);
  const first = await visitor.submit(page, {}, "restart");
  assert.match(first.text, /E-mail address/);
});

test("a provider that is down is a page with the other ways", async () => {
  foreign.setDown(true);
  // Another provider's process, which has read no document yet.
  const fresh = await startIssuer({
    "account.oauth.applications": applications,
    "account.identity-providers": JSON.stringify([{ ...corp, issuer: foreign.issuer }]),
    "account.outbound.allow": ["127.0.0.1:*"],
  });
  try {
    const visitor = createVisitor(fresh);
    const { url } = await startSignIn(fresh);
    const page = await visitor.open(linkTo((await visitor.open(url)).text, "corp"));
    assert.deepEqual([page.status, page.headers.get("retry-after")], [503, "5"]);
    assert.match(page.text, /cannot be reached right now/);
    assert.match((await visitor.submit(page, {}, "restart")).text, /Send me a code/);
  } finally {
    foreign.setDown(false);
    await fresh.close();
  }
});

test("an internal address that the deployment does not allow is not asked", async () => {
  const strict = await startIssuer({
    "account.oauth.applications": applications,
    "account.identity-providers": JSON.stringify([{ ...corp, issuer: foreign.issuer }]),
  });
  try {
    const visitor = createVisitor(strict);
    const { url } = await startSignIn(strict);
    assert.equal((await visitor.open(linkTo((await visitor.open(url)).text, "corp"))).status, 503);
  } finally {
    await strict.close();
  }
});

test("an answer counts once", async () => {
  foreign.expect(person());
  const visitor = createVisitor(account);
  const { there } = await leaveFor(visitor, "corp");
  const back = await passProvider(there);
  await visitor.open(back);
  const repeated = await visitor.open(back);
  assert.equal(repeated.status, 400);
});

test("an answer counts in the browser alone that asked for it", async () => {
  foreign.expect(person());
  const { there } = await leaveFor(createVisitor(account), "corp");
  const page = await createVisitor(account).open(await passProvider(there));
  assert.deepEqual([page.status, /This sign-in has expired/.test(page.text)], [400, true]);
});

test("a second tab of one sign-in ends the answer of the first", async () => {
  foreign.expect(person());
  const visitor = createVisitor(account);
  const { first, there } = await leaveFor(visitor, "corp");
  const { url: second } = await visitor.open(linkTo(first.text, "corp"));
  const stale = await visitor.open(await passProvider(there));
  assert.match(stale.text, /was invalid or came too late/);
  const { url } = await visitor.open(await passProvider(second));
  assert.ok(url.href.startsWith(application.redirect_uris[0] ?? ""));
});

test("an answer without a state of ours is a page with a way on", async () => {
  for (const query of [
    "",
    "?state=x",
    "?code=1&state=..%2F..%2Fhome.x",
    `?state=${"a".repeat(21)}.${"b".repeat(32)}`,
  ]) {
    const page = await createVisitor(account).open(`${issuer}/callback/corp${query}`);
    assert.deepEqual([page.status, /Open the console/.test(page.text)], [400, true], query);
  }
});

test("the sign-in is as old as the provider says", async () => {
  const at = Math.floor(Date.now() / 1000) - 3600;
  const { page, finish } = await signInWithCorp(person(), createVisitor(account), at);
  assert.equal(claimsOf((await finish(page.url)).access_token).auth_time, at);
});

test("an application that asks for a new sign-in gets one at the provider", async () => {
  const { there } = await leaveFor(createVisitor(account), "corp", { prompt: "login" });
  assert.equal(there.searchParams.get("prompt"), "login");
});

test("another site cannot send a browser to a provider", async () => {
  const visitor = createVisitor(account, { "sec-fetch-site": "cross-site" });
  const { url } = await startSignIn(account);
  assert.equal((await visitor.open(linkTo((await visitor.open(url)).text, "corp"))).status, 400);
});

/** Signs in with the hostile provider, whose ID token `write` makes of the right claims. */
async function signInWithEvil(write: (claims: Record<string, unknown>) => string, more: Record<string, string> = {}) {
  const visitor = createVisitor(account);
  const { there, finish } = await leaveFor(visitor, "evil");
  return { page: await visitor.open(hostile.redirect(there, write, more)), finish };
}

const good = (claims: Record<string, unknown>) =>
  hostile.signer.sign({ ...claims, sub: crypto.randomUUID(), email: `${crypto.randomUUID()}@example.org` });

const unsigned = (claims: Record<string, unknown>): string =>
  [{ alg: "none" }, { sub: "x", iat: Date.now() / 1000, exp: 2_000_000_000_000, ...claims }, null]
    .map((part) => (part ? Buffer.from(JSON.stringify(part)).toString("base64url") : ""))
    .join(".");

test("a key that the provider has just rotated in is known", async () => {
  const first = await signInWithEvil(good);
  assert.ok(first.page.url.href.startsWith(application.redirect_uris[0] ?? ""), first.page.text);
  hostile.signer.rotate();
  hostile.signer.withdrawOldKeys();
  const second = await signInWithEvil(good);
  assert.ok(second.page.url.href.startsWith(application.redirect_uris[0] ?? ""), second.page.text);
});

const forgeries: readonly (readonly [string, (claims: Record<string, unknown>) => string, Record<string, string>?])[] =
  [
    ["with another nonce", (claims) => good({ ...claims, nonce: "other" })],
    ["without a nonce", (claims) => good({ ...claims, nonce: undefined })],
    ["for another client", (claims) => good({ ...claims, aud: "other" })],
    ["of another issuer", (claims) => good({ ...claims, iss: "https://other.example" })],
    ["without a signature", unsigned],
    ["that has expired", (claims) => good({ ...claims, exp: 1_000_000_000 })],
    ["beside the `iss` of another provider", good, { iss: "https://other.example" }],
  ];

for (const [name, write, more] of forgeries) {
  test(`an ID token ${name} signs nobody in`, async () => {
    const { page } = await signInWithEvil(write, more);
    assert.deepEqual([page.status, /Evil did not sign you in/.test(page.text)], [400, true]);
  });
}

test("an answer without `iss` is refused where the provider sends one", async () => {
  const visitor = createVisitor(account);
  const { there } = await leaveFor(visitor, "evil");
  const back = hostile.redirect(there, good);
  back.searchParams.delete("iss");
  assert.equal((await visitor.open(back)).status, 400);
});

test("the answer of one provider is refused at the address of another", async () => {
  const visitor = createVisitor(account);
  const { there } = await leaveFor(visitor, "evil");
  const back = new URL(hostile.redirect(there, good).href.replace("/callback/evil", "/callback/corp"));
  assert.equal((await visitor.open(back)).status, 400);
});

test("the identity of one provider is none of another with the same subject", async () => {
  const who = person();
  const first = await signInWithCorp(who);
  const { sub } = claimsOf((await first.finish(first.page.url)).access_token);
  const write = (claims: Record<string, unknown>) =>
    hostile.signer.sign({ ...claims, sub: who.sub, email: `${crypto.randomUUID()}@example.org` });
  const other = await signInWithEvil(write);
  assert.notEqual(claimsOf((await other.finish(other.page.url)).access_token).sub, sub);
});

test("an event tells the sign-in by an identity provider", async () => {
  const { page, finish } = await signInWithCorp(person());
  const { sub } = claimsOf((await finish(page.url)).access_token);
  const [signIn] = await account.eventsOf(String(sub), 1, "sign_in.succeeded");
  assert.equal((signIn?.data as { method?: string } | undefined)?.method, "identity_provider");
});

test("a login at a provider can be removed while the address leads in", async () => {
  const { page, finish } = await signInWithCorp(person());
  const headers = bearer((await finish(page.url)).access_token);
  const { items } = (await account.send("GET", "/api/account/identities/", { headers })).body;
  const { id } = items.find(({ issuer: name }: { issuer: string }) => name === "corp");
  const removed = await account.send("DELETE", `/api/account/identities/${id}`, { headers });
  assert.equal(removed.status, 204);
});

test("the audit names the sign-in of a new identity", async () => {
  const { page, finish } = await signInWithCorp(person());
  const headers = bearer((await finish(page.url)).access_token);
  const { items } = (await account.send("GET", "/api/account/audit/", { headers })).body;
  assert.equal(items.filter(({ action }: { action: string }) => action === "sign_in").length, 1);
});
