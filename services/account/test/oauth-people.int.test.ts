import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "@signalbox/storage";
import { eventually } from "@signalbox/testing";
import * as openid from "openid-client";
import { contactsOf } from "./contact-parts.ts";
import type { Harness } from "./harness.ts";
import {
  bearer,
  claimsOf,
  databaseOf,
  discover,
  issuer,
  makeClient,
  startIssuer,
  startSecond,
  tablesWith,
} from "./oauth-fixture.ts";
import {
  application,
  applications,
  codeTo,
  createVisitor,
  nativeApplication,
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

const readWith = async (token: string, instance = account) =>
  await instance.send("GET", "/api/account/", { headers: bearer(token) });

/** Changes the status of a person's account as an administrator. */
async function moveTo(status: string, { idClaims }: Awaited<ReturnType<typeof signedIn>>): Promise<void> {
  const body = { status, reason: "x" };
  const path = `/api/accounts/${idClaims?.sub}/status`;
  assert.equal((await account.send("POST", path, { headers: administrator, body })).status, 200);
}

test("a person signs in with a code that is mailed to them, and the application gets tokens of their account", async () => {
  const person = await signedIn(account, { scope: "openid email account:read" });
  const own = (await readWith(person.access_token)).body;
  assert.deepEqual([own.contact_address, own.contact_address_verified, own.status], [person.address, true, "active"]);
  const { sub, email, email_verified } = claimsOf(person.id_token ?? "");
  assert.deepEqual([sub, email, email_verified], [own.id, person.address, true]);
  const { account_id, roles, scope, auth_time, client_id } = claimsOf(person.access_token);
  assert.deepEqual(
    [account_id, roles, scope, client_id],
    [own.id, ["owner"], "openid email account:read", application.client_id],
  );
  assert.ok(Math.abs(Number(auth_time) * 1000 - Date.now()) < 60_000);
  const renamed = await account.send("PATCH", "/api/account/", {
    headers: bearer(person.access_token),
    body: { display_name: "x" },
  });
  assert.equal(renamed.status, 403, "the application did not ask for more");
  assert.equal(person.refresh_token, undefined);
});

test("the same address leads to the same account, in another case as well, and its code goes where the account has it", async () => {
  const first = await signedIn(account);
  const typed = first.address.toUpperCase();
  const visitor = createVisitor(account);
  const { url, finish } = await startSignIn(account);
  const second = await visitor.submit(await visitor.open(url), { address: typed }, "address");
  const back = await visitor.submit(second, { code: await codeTo(account, first.address, 2) }, "code");
  const again = await finish(back.url);
  assert.equal(again.claims()?.sub, first.idClaims?.sub);
  assert.ok(!account.mailbox.mails.some(({ to }) => to === typed));
});

test("a token without scopes may what its role may, and is recent enough for what needs a recent sign-in", async () => {
  const { access_token: token } = await signedIn(account);
  const body = { name: "key", scopes: ["account:read"] };
  assert.equal((await account.send("POST", "/api/account/api-keys/", { headers: bearer(token), body })).status, 201);
  assert.equal((await account.send("GET", "/api/accounts/", { headers: bearer(token) })).status, 403);
});

test("an application that asks for what the person may not do gets less, and nothing when nothing is left", async () => {
  const { access_token: token } = await signedIn(account, { scope: "openid account:read account:admin env:read" });
  assert.equal(claimsOf(token).scope, "openid account:read");
  for (const scope of ["openid account:admin", "openid env:read config:admin", "account:admin offline_access"]) {
    await assert.rejects(signedIn(account, { scope }), { error: "invalid_scope" }, scope);
  }
});

test("an administrator who signs in gets what the role brings when the application asks for it, and not otherwise", async () => {
  const { address, idClaims } = await signedIn(account);
  const promote = sql("", "update accounts set roles = array['admin'] where id = $1");
  await databaseOf(account).query(promote, [idClaims?.sub]);
  const listWith = async (scope: string) => {
    const { access_token: token } = await signedIn(account, { address, scope });
    return (await account.send("GET", "/api/accounts/", { headers: bearer(token) })).status;
  };
  assert.deepEqual([await listWith("openid account:admin"), await listWith("openid account:read")], [200, 403]);
});

test("the page says the same whether there is an account or not", async () => {
  const known = await signedIn(account);
  const seen: string[] = [];
  for (const address of [known.address, `${crypto.randomUUID()}@example.org`]) {
    const visitor = createVisitor(account);
    const { url } = await startSignIn(account);
    const page = await visitor.submit(await visitor.open(url), { address }, "address");
    const own = page.text.replaceAll(address, "").replaceAll(page.url.pathname, "");
    seen.push(`${page.status} ${own.replace(/name="guard" value="[^"]*"/g, "")}`);
  }
  assert.equal(seen[0], seen[1]);
});

test("after five codes in an hour a browser gets no other and is told, while the fifth stays good and others get one", async () => {
  const visitor = createVisitor(account);
  const address = `${crypto.randomUUID()}@example.org`;
  const { url } = await startSignIn(account);
  let page = await visitor.submit(await visitor.open(url), { address }, "address");
  // Mails go out side by side: each is awaited, or the fifth to arrive need not be the fifth that was written.
  let code = await codeTo(account, address, 1);
  for (let count = 2; count <= 5; count++) {
    page = await visitor.submit(page, {}, "resend");
    code = await codeTo(account, address, count);
  }
  page = await visitor.submit(page, {}, "resend");
  assert.equal(page.status, 422);
  assert.match(page.text, /role="alert">No other code was sent/);

  const last = await visitor.submit(page, { code }, "code");
  assert.equal(last.url.origin, "https://console.example");
  assert.equal(account.mailbox.mails.filter(({ to }) => to === address).length, 5);

  const other = createVisitor(account);
  const again = await other.open((await startSignIn(account)).url);
  await other.submit(again, { address: address.toUpperCase() }, "address");
  await codeTo(account, address, 6);
});

test("wrong codes are refused on the page, and after five the right one is too", async () => {
  const visitor = createVisitor(account);
  const address = `${crypto.randomUUID()}@example.org`;
  const { url } = await startSignIn(account);
  let page = await visitor.submit(await visitor.open(url), { address }, "address");
  const code = await codeTo(account, address);
  for (let count = 0; count < 5; count++) {
    page = await visitor.submit(page, { code: code === "00000000" ? "00000001" : "00000000" }, "code");
    assert.equal(page.status, 422);
    assert.match(page.text, /role="alert"/);
    assert.match(page.text, /aria-describedby="problem hint" aria-invalid="true"/);
  }
  page = await visitor.submit(page, { code }, "code");
  assert.equal(page.status, 422);
  const fresh = await visitor.submit(page, {}, "resend");
  const again = await codeTo(account, address, 2);
  const last = await visitor.submit(fresh, { code: ` ${again.slice(0, 4)} ${again.slice(4)} ` }, "code");
  assert.equal(last.url.origin, "https://console.example");
});

test("an invalid address is reported beside the field, and typed text is never markup", async () => {
  const visitor = createVisitor(account);
  const { url } = await startSignIn(account);
  const page = await visitor.open(url);
  const bad = await visitor.submit(page, { address: '"><script>alert(1)</script>' }, "address");
  assert.equal(bad.status, 422);
  assert.ok(!bad.text.includes("<script>"));
  assert.ok(bad.text.includes("Console &lt;b&gt;"), "nor is the name of the application");
});

test("the pages run nothing but the file of passkeys, are framed by nobody and lead nowhere but back to the application", async () => {
  const visitor = createVisitor(account);
  const { url } = await startSignIn(account);
  const page = await visitor.open(url);
  const policy = page.headers.get("content-security-policy") ?? "";
  assert.match(
    policy,
    /^default-src 'none'; style-src 'sha256-[^']+'; script-src https:\/\/signalbox\.example\/house\/oauth\/passkeys\.js; form-action 'self' https:\/\/console\.example; /,
  );
  assert.match(policy, /frame-ancestors 'none'/);
  assert.equal(page.headers.get("x-frame-options"), "DENY");
  assert.equal(page.headers.get("cache-control"), "no-store");
  assert.equal(page.headers.get("referrer-policy"), "no-referrer");
  assert.equal(page.text.replace(/<script src="[^"]+\/passkeys\.js" defer><\/script>/, "").includes("<script"), false);
  assert.match(page.text, /autocomplete="username webauthn"/);
});

test("a form from another site, without its guard, or of another sign-in changes nothing", async () => {
  const [visitor, attacker] = [createVisitor(account), createVisitor(account)];
  const page = await visitor.open((await startSignIn(account)).url);
  const theirs = await attacker.open((await startSignIn(account)).url);
  const address = `${crypto.randomUUID()}@example.org`;
  for (const site of ["cross-site", "same-site"]) {
    const answer = await visitor.submit(page, { address }, "address", { "sec-fetch-site": site });
    assert.equal(answer.status, 400);
  }
  assert.equal((await visitor.submit(page, { address, guard: "" }, "address")).status, 400);
  const guard = /name="guard" value="([^"]+)"/.exec(theirs.text)?.[1] ?? "";
  assert.equal((await visitor.submit(page, { address, guard }, "address")).status, 400);
  for (const step of ["constructor", "toString", ""]) {
    assert.equal((await visitor.submit(page, { address, step }, "address")).status, 400, step);
  }
  assert.equal((await visitor.submit(page, { address, guard: "ä".repeat(43) }, "address")).status, 400);
  assert.equal((await visitor.open(theirs.url)).status, 400, "the address alone is worth nothing in another browser");
  assert.ok(!account.mailbox.mails.some(({ to }) => to === address));
});

test("the cookies are for the issuer alone, are not read by script, and change when somebody signs in", async () => {
  const visitor = createVisitor(account);
  const { url } = await startSignIn(account);
  const options = { redirect: "manual" } as const;
  const first = await fetch(String(url).replace("https://signalbox.example/house", account.url), options);
  for (const cookie of first.headers.getSetCookie()) {
    assert.match(cookie, /; path=\/house\/oauth/);
    assert.match(cookie, /; samesite=lax/i);
    assert.match(cookie, /; httponly/i);
    assert.match(cookie, /; secure/i);
  }
  const fixed = "attacker-chose-this-session";
  visitor.cookies.set("signalbox_session", fixed);
  await passThrough(visitor, account, url, `${crypto.randomUUID()}@example.org`);
  assert.notEqual(visitor.cookies.get("signalbox_session"), fixed);
  const before = visitor.cookies.get("signalbox_session");
  const again = await startSignIn(account, { more: { prompt: "login" } });
  await passThrough(visitor, account, again.url, `${crypto.randomUUID()}@example.org`);
  assert.notEqual(visitor.cookies.get("signalbox_session"), before);
});

test("who is signed in is not asked again, by another application neither, and by another instance neither", async () => {
  const { visitor, idClaims } = await signedIn(account);
  const native = { client: nativeApplication.client_id, redirect: "http://127.0.0.1:51234/back" };
  const { url, finish } = await startSignIn(account, native);
  const back = (await visitor.open(url)).url;
  assert.equal(back.origin, "http://127.0.0.1:51234", "a loopback address with any port");
  assert.equal((await finish(back)).claims()?.sub, idClaims?.sub);
  const second = await startSecond(account, { "account.oauth.applications": applications });
  visitor.at(second);
  const other = await startSignIn(second);
  assert.equal((await other.finish((await visitor.open(other.url)).url)).claims()?.sub, idClaims?.sub);
  await second.close();
});

test("a program on this machine gets no code in silence, whatever port it listens at", async () => {
  const { visitor, idClaims } = await signedIn(account);
  const more = { prompt: "none" };
  for (const redirect of ["http://127.0.0.1:51234/back", "http://127.0.0.1/back"]) {
    const native = await startSignIn(account, { client: nativeApplication.client_id, redirect, more });
    const back = (await visitor.open(native.url)).url;
    assert.equal(back.href.startsWith(redirect), true);
    assert.deepEqual([back.searchParams.get("error"), back.searchParams.get("code")], ["interaction_required", null]);
  }
  const web = await startSignIn(account, { more });
  assert.equal((await web.finish((await visitor.open(web.url)).url)).claims()?.sub, idClaims?.sub);
});

test("somebody else who signs in in the same browser ends the session before", async () => {
  const { visitor, idClaims } = await signedIn(account);
  const { url, finish } = await startSignIn(account, { more: { prompt: "login" } });
  const back = await passThrough(visitor, account, url, `${crypto.randomUUID()}@example.org`);
  const other = (await finish(back)).claims()?.sub;
  assert.notEqual(other, idClaims?.sub);
  const silent = await startSignIn(account, { more: { prompt: "none" } });
  assert.equal((await silent.finish((await visitor.open(silent.url)).url)).claims()?.sub, other);
});

test("a redirect that is not the application's, no PKCE and an unknown application end on a page of ours", async () => {
  const { url } = await startSignIn(account);
  const changed = (change: (parameters: URLSearchParams) => void) => {
    const other = new URL(url);
    change(other.searchParams);
    return createVisitor(account).open(other);
  };
  const redirected = await changed((parameters) => parameters.set("redirect_uri", "https://evil.example/"));
  assert.deepEqual([redirected.status, redirected.url.hostname], [400, "signalbox.example"]);
  const unknown = await changed((parameters) => parameters.set("client_id", "<script>"));
  assert.equal(unknown.status, 400);
  assert.ok(!unknown.text.includes("<script"));
  const bare = await changed((parameters) => parameters.delete("code_challenge"));
  assert.equal(bare.url.searchParams.get("error"), "invalid_request");
  const plain = await changed((parameters) => parameters.set("code_challenge_method", "plain"));
  assert.equal(plain.url.searchParams.get("error"), "invalid_request");
});

test("deleted: the code leads to a page that says so, and neither session nor refresh token leads anywhere", async () => {
  const person = await signedIn(account, { scope: "openid offline_access" });
  await moveTo("deleted", person);
  await assert.rejects(
    openid.refreshTokenGrant(person.configuration, person.refresh_token ?? ""),
    ({ error, error_description: told }: openid.ResponseBodyError) =>
      error === "invalid_grant" && /^The account has been deleted since .* Reason: x$/.test(told ?? ""),
  );
  await assert.rejects(
    openid.refreshTokenGrant(person.configuration, "a stranger's guess"),
    ({ error_description: told }: openid.ResponseBodyError) => told === "grant request is invalid",
  );
  const silent = await person.visitor.open((await startSignIn(account, { more: { prompt: "none" } })).url);
  assert.equal(silent.url.searchParams.get("error"), "login_required");
  const { url } = await startSignIn(account);
  const second = await person.visitor.submit(await person.visitor.open(url), { address: person.address }, "address");
  assert.equal(second.status, 200, "nobody is told before the code");
  const last = await person.visitor.submit(second, { code: await codeTo(account, person.address, 2) }, "code");
  assert.equal(last.status, 403);
  assert.match(last.text, /was deleted on .*UTC\..*Reason: x/s);
});

test("suspended: its person still signs in, reads the account, and writes nothing", async () => {
  const scope = "openid offline_access account:read account:write";
  const person = await signedIn(account, { scope });
  await moveTo("suspended", person);
  const refreshed = await openid.refreshTokenGrant(person.configuration, person.refresh_token ?? "");
  const again = await signedIn(account, { scope, address: person.address });
  assert.equal(again.idClaims?.sub, person.idClaims?.sub);
  for (const { access_token: token } of [refreshed, again]) {
    const read = await readWith(token);
    assert.deepEqual([read.status, read.body.status], [200, "suspended"]);
    const body = { display_name: "x" };
    const written = await account.send("PATCH", "/api/account/", { headers: bearer(token), body });
    assert.deepEqual([written.status, written.body.error.details[0].code], [403, "account_suspended"]);
  }
});

test("disabled: its person still signs in, and asks to have the account back", async () => {
  const scope = "openid account:read account:write";
  const person = await signedIn(account, { scope });
  await moveTo("disabled", person);
  const { access_token: token } = await signedIn(account, { scope, address: person.address });
  assert.equal((await readWith(token)).body.status, "disabled");
  const headers = bearer(token);
  assert.equal((await account.send("POST", "/api/account/recovery/", { headers })).status, 202);
  assert.equal((await account.send("PATCH", "/api/account/", { headers, body: { display_name: "x" } })).status, 403);
});

test("of two accounts of an address the one that is not deleted is signed in to, whatever else its state", async () => {
  const first = await signedIn(account);
  await moveTo("deleted", first);
  const other = await signedIn(account);
  await contactsOf(account).adopt(bearer(other.access_token), first.address, 2);
  await moveTo("disabled", other);
  const again = await signedIn(account, { address: first.address });
  assert.equal(again.idClaims?.sub, other.idClaims?.sub);
});

test("a refresh token works once: its successor does too, until an old one is used again and all of the grant ends", async () => {
  const person = await signedIn(account, { scope: "openid offline_access account:read" });
  const first = person.refresh_token ?? "";
  const second = await openid.refreshTokenGrant(person.configuration, first);
  const { auth_time, account_id, roles, scope } = claimsOf(second.access_token);
  const before = claimsOf(person.access_token);
  assert.deepEqual(
    [auth_time, account_id, roles, scope],
    [before.auth_time, before.account_id, ["owner"], "openid account:read"],
  );
  const third = await openid.refreshTokenGrant(person.configuration, second.refresh_token ?? "");
  assert.equal((await readWith(third.access_token)).status, 200);
  await assert.rejects(openid.refreshTokenGrant(person.configuration, first));
  await assert.rejects(openid.refreshTokenGrant(person.configuration, third.refresh_token ?? ""));
  await eventually(async () => (await readWith(third.access_token)).status === 401, { timeoutMs: 2000 });
});

test("a code works once and with its verifier alone, at any instance, and its second use ends what the first gave", async () => {
  const second = await startSecond(account, { "account.oauth.applications": applications });
  const visitor = createVisitor(account);
  const { url, finish } = await startSignIn(account);
  const back = await passThrough(visitor, account, url, `${crypto.randomUUID()}@example.org`);
  const atSecond = await discover(second, application.client_id, openid.None());
  const withVerifier = (pkceCodeVerifier: string) =>
    openid.authorizationCodeGrant(atSecond, back, {
      pkceCodeVerifier,
      expectedState: back.searchParams.get("state") ?? "",
    });
  await assert.rejects(withVerifier(openid.randomPKCECodeVerifier()));
  const { access_token: token } = await finish(back);
  assert.equal((await readWith(token, second)).status, 200, "a code of one instance, and its token at the other");
  await assert.rejects(finish(back));
  await eventually(async () => (await readWith(token)).status === 401, { timeoutMs: 2000 });
  await second.close();
});

test("revoking a refresh token ends its access tokens, and a public application may do so", async () => {
  const person = await signedIn(account, { scope: "openid offline_access" });
  await openid.tokenRevocation(person.configuration, person.refresh_token ?? "");
  await eventually(async () => (await readWith(person.access_token)).status === 401, { timeoutMs: 2000 });
  await assert.rejects(openid.refreshTokenGrant(person.configuration, person.refresh_token ?? ""));
});

test("revoking an access token leaves the refresh token, and introspection is not for public applications", async () => {
  const person = await signedIn(account, { scope: "openid offline_access" });
  assert.deepEqual(await openid.tokenIntrospection(person.configuration, person.access_token), { active: false });
  await openid.tokenRevocation(person.configuration, person.access_token);
  await eventually(async () => (await readWith(person.access_token)).status === 401, { timeoutMs: 2000 });
  const next = await openid.refreshTokenGrant(person.configuration, person.refresh_token ?? "");
  assert.equal((await readWith(next.access_token)).status, 200);
});

test("a service client of the same account learns of a person's tokens, one of another account does not", async () => {
  const person = await signedIn(account, { scope: "openid offline_access" });
  const own = await makeClient(account, bearer(person.access_token), ["account:read"]);
  const foreign = await makeClient(account, administrator);
  const asOwn = await discover(account, own.id, openid.ClientSecretBasic(own.secret));
  const asForeign = await discover(account, foreign.id, openid.ClientSecretBasic(foreign.secret));
  for (const token of [person.access_token, person.refresh_token ?? ""]) {
    const { active, sub, client_id } = await openid.tokenIntrospection(asOwn, token);
    assert.deepEqual([active, sub, client_id], [true, person.idClaims?.sub, application.client_id]);
    assert.deepEqual(await openid.tokenIntrospection(asForeign, token), { active: false });
  }
  await moveTo("suspended", person);
  assert.equal((await openid.tokenIntrospection(asOwn, person.access_token)).active, true, "it still reads");
  await moveTo("deleted", person);
  await assert.rejects(openid.tokenIntrospection(asOwn, person.access_token));
});

test("signing out asks first, ends the session and what it gave, and leads back to the application", async () => {
  const person = await signedIn(account);
  const signOut = openid.buildEndSessionUrl(person.configuration, {
    id_token_hint: person.id_token ?? "",
    post_logout_redirect_uri: "https://console.example/bye",
    state: "s",
  });
  const page = await person.visitor.open(signOut);
  assert.equal(page.status, 200);
  assert.match(page.headers.get("content-security-policy") ?? "", /form-action 'self' https:\/\/console\.example/);
  assert.ok(!page.text.includes("<script"));
  const bye = await person.visitor.submit(page, { logout: "yes" });
  assert.equal(bye.url.href, "https://console.example/bye?state=s");
  const silent = await person.visitor.open((await startSignIn(account, { more: { prompt: "none" } })).url);
  assert.equal(silent.url.searchParams.get("error"), "login_required");
  await eventually(async () => (await readWith(person.access_token)).status === 401, { timeoutMs: 2000 });
  const again = await person.visitor.open(signOut);
  assert.ok(!again.text.includes("<script"), "nor does the page of who is signed out already");
  assert.equal((await person.visitor.submit(again, {})).url.href, "https://console.example/bye?state=s");
  const forged = await person.visitor.open(`${issuer}/end-session?post_logout_redirect_uri=https://evil.example/`);
  assert.equal(forged.url.hostname, "signalbox.example");
});

test("sessions, grants and refresh tokens outlive a restart, and none of them is in the database in clear", async () => {
  const first = await startIssuer({ "account.oauth.applications": applications });
  const person = await signedIn(first, { scope: "openid offline_access" });
  const code = await codeTo(first, person.address);
  const session = person.visitor.cookies.get("signalbox_session") ?? "none";
  for (const secret of [person.refresh_token ?? "", person.access_token, code, session]) {
    assert.deepEqual(await tablesWith(first, secret), [], secret.slice(0, 8));
    assert.ok(!JSON.stringify(first.context.logged).includes(secret));
  }
  const restarted = await startSecond(first, { "account.oauth.applications": applications });
  const after = await discover(restarted, application.client_id, openid.None());
  assert.equal((await readWith(person.access_token, restarted)).status, 200);
  assert.ok((await openid.refreshTokenGrant(after, person.refresh_token ?? "")).refresh_token);
  person.visitor.at(restarted);
  const silent = await startSignIn(restarted, { more: { prompt: "none" } });
  assert.ok((await person.visitor.open(silent.url)).url.searchParams.get("code"));
  await restarted.close();
  await first.close();
});

test("the address that is the only way in cannot be removed until a key that manages the account is there", async () => {
  const scope = "openid account:read account:write account:security";
  const person = await signedIn(account, { scope });
  const headers = bearer(person.access_token);
  const { display_name, locale, timezone } = (await readWith(person.access_token)).body;
  const clear = () => account.send("PATCH", "/api/account/", { headers, body: { contact_address: null } });
  const omit = () => account.send("PUT", "/api/account/", { headers, body: { display_name, locale, timezone } });
  const makeKey = (scopes: string[]) =>
    account.send("POST", "/api/account/api-keys/", { headers, body: { name: "key", scopes } });
  await makeKey(["account:read", "account:write"]);
  for (const attempt of [clear, omit]) {
    const { status, body } = await attempt();
    assert.deepEqual([status, body.error.code, body.error.details[0].code], [409, "conflict", "last_way_in"]);
    assert.equal(body.error.field, "contact_address");
  }
  const text = "mutation { updateAccount(input: { contactAddress: null }) { account { id } } }";
  assert.equal((await account.query(headers, text)).errors[0].extensions.code, "CONFLICT");
  const kept = (await readWith(person.access_token)).body;
  assert.deepEqual([kept.contact_address, kept.contact_address_verified], [person.address, true]);
  const told = account.mailbox.mails.filter(({ to, subject }) => to === person.address && subject.includes("contact"));
  assert.deepEqual(told, [], "nobody is told of it");

  await makeKey(["account:security"]);
  const cleared = await clear();
  assert.deepEqual([cleared.status, cleared.body.contact_address], [200, null]);
});

test("a sign-in is in the audit of the account, and so is a wrong code", async () => {
  const person = await signedIn(account, { scope: "openid account:read account:security account:write" });
  const visitor = createVisitor(account);
  const { url } = await startSignIn(account);
  const page = await visitor.submit(await visitor.open(url), { address: person.address }, "address");
  await visitor.submit(page, { code: "x" }, "code");
  const entries = await eventually(async () => {
    const { body } = await account.send("GET", "/api/account/audit/", { headers: bearer(person.access_token) });
    return body.items.length >= 3 && body.items;
  });
  const seen = entries.map(({ action, outcome, reason }: Record<string, string>) => [action, outcome, reason]);
  assert.deepEqual(seen.sort(), [
    ["account.create", "done", null],
    ["sign_in", "done", null],
    ["sign_in", "refused", "wrong_code"],
  ]);
  assert.ok(
    entries.every(({ actor }: { actor: { credential: string } }) => actor.credential === application.client_id),
  );
});
