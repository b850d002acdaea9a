import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as openid from "openid-client";
import type { Harness } from "./harness.ts";
import { bearer, claimsOf, discover, issuer, startIssuer, through } from "./oauth-fixture.ts";
import { applications, codeTo, createVisitor, nativeApplication, signedIn, type Visitor } from "./oauth-visitor.ts";

let account: Harness;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications });
});
after(() => account.close());

const grant = "urn:ietf:params:oauth:grant-type:device_code";
const scope = "openid offline_access account:read images:read";

async function startDevice(client = "cli") {
  const configuration = await discover(account, client, openid.None());
  const asked = await openid.initiateDeviceAuthorization(configuration, { scope });
  return { configuration, asked };
}

/** One question of the device for its tokens. */
const poll = async (deviceCode: string, client = "cli") => {
  const body = new URLSearchParams({ grant_type: grant, device_code: deviceCode, client_id: client });
  const answer = await through(account)(`${issuer}/token`, { method: "POST", body });
  return (await answer.json()) as { error?: string; access_token?: string };
};

type Seen = Awaited<ReturnType<Visitor["open"]>>;

/** Presses a button of the page that asks whether to connect. */
function press(visitor: Visitor, page: Seen, more: Record<string, string> = {}) {
  return visitor.submit(page, more);
}

const typeCode = async (visitor: Visitor, code: string) =>
  visitor.submit(await visitor.open(`${issuer}/device`), { user_code: code });

test("a person who is signed in connects the command line, which gets tokens and refreshes them", async () => {
  const { visitor, idClaims } = await signedIn(account);
  const { configuration, asked } = await startDevice();
  assert.match(asked.user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  assert.deepEqual([asked.verification_uri, asked.expires_in], [`${issuer}/device`, 600]);
  const question = await typeCode(visitor, asked.user_code.toLowerCase().replace("-", " "));
  assert.equal(question.status, 200);
  for (const shown of ["Command line", asked.user_code, "account:read", "images:read", "127.0.0.1"]) {
    assert.ok(question.text.includes(shown), `the page shows ${shown}`);
  }
  assert.equal(
    (await poll(asked.device_code)).error,
    "authorization_pending",
    "typing the code alone connects nothing",
  );
  assert.match((await press(visitor, question)).text, /The device is connected/);
  const tokens = await openid.pollDeviceAuthorizationGrant(configuration, { ...asked, interval: 0 });
  const { sub, client_id, scope: given } = claimsOf(tokens.access_token);
  assert.deepEqual([sub, client_id], [idClaims?.sub, "cli"]);
  assert.equal(given, "openid account:read images:read");
  const own = await account.send("GET", "/api/account/", { headers: bearer(tokens.access_token) });
  assert.equal(own.status, 200);
  const next = await openid.refreshTokenGrant(configuration, tokens.refresh_token ?? "");
  assert.equal(claimsOf(next.access_token).sub, idClaims?.sub);
  const signIns = await account.send("GET", "/api/account/sign-ins/", { headers: bearer(next.access_token) });
  assert.deepEqual(
    signIns.body.items.map(({ current }: { current: boolean }) => current),
    [true],
    "it belongs to the sign-in of the browser, and ends with it",
  );
});

test("a person who is not signed in signs in after the question, and the device is connected", async () => {
  const visitor = createVisitor(account);
  const { asked } = await startDevice();
  const address = `${crypto.randomUUID()}@example.org`;
  const filled = await visitor.open(asked.verification_uri_complete ?? "");
  assert.ok(filled.text.includes(`value="${asked.user_code}"`), "the code of the address is typed already");
  assert.equal((await poll(asked.device_code)).error, "authorization_pending", "a followed link connects nothing");
  const signIn = await press(visitor, await visitor.submit(filled, { user_code: asked.user_code }));
  assert.match(signIn.text, /to continue to Command line/);
  const code = await visitor.submit(signIn, { address }, "address");
  const done = await visitor.submit(code, { code: await codeTo(account, address) }, "code");
  assert.match(done.text, /The device is connected/);
  assert.ok((await poll(asked.device_code)).access_token);
});

test("a device that was turned down gets no access", async () => {
  const { visitor } = await signedIn(account);
  const { asked } = await startDevice();
  const question = await typeCode(visitor, asked.user_code);
  assert.match((await press(visitor, question, { abort: "yes" })).text, /Nothing was connected/);
  assert.equal((await poll(asked.device_code)).error, "access_denied");
});

test("a device that asks again within five seconds is told to slow down, and loses nothing by it", async () => {
  const { visitor } = await signedIn(account);
  const { asked } = await startDevice();
  const errors = new Set<string | undefined>();
  for (let times = 0; times < 4; times++) errors.add((await poll(asked.device_code)).error);
  assert.deepEqual([...errors], ["authorization_pending", "slow_down"]);
  await press(visitor, await typeCode(visitor, asked.user_code));
  assert.ok((await poll(asked.device_code)).access_token);
});

test("the codes of a device work once, for the application that asked, and in its own form only", async () => {
  const { visitor } = await signedIn(account);
  const { asked } = await startDevice();
  await press(visitor, await typeCode(visitor, asked.user_code));
  assert.equal((await poll(asked.device_code, nativeApplication.client_id)).error, "invalid_grant");
  const mine = await startDevice();
  await press(visitor, await typeCode(visitor, mine.asked.user_code));
  assert.ok((await poll(mine.asked.device_code)).access_token);
  assert.equal((await poll(mine.asked.device_code)).error, "invalid_grant", "a second time");
  const again = await typeCode(visitor, mine.asked.user_code);
  assert.equal(again.status, 422);
  const forged = await startDevice();
  const body = new URLSearchParams({ user_code: forged.asked.user_code, confirm: "yes", xsrf: "x" });
  const refused = await through(account)(`${issuer}/device`, { method: "POST", body });
  assert.equal(refused.status, 400, "another site cannot press the button");
  assert.equal((await poll(forged.asked.device_code)).error, "authorization_pending");
});

test("an application without the grant is refused", async () => {
  const body = new URLSearchParams({ client_id: "console", scope: "openid" });
  const answer = await through(account)(`${issuer}/device-authorization`, { method: "POST", body });
  assert.equal(answer.status, 400);
  const { error, error_description: why } = (await answer.json()) as Record<string, string>;
  assert.deepEqual([error, why?.includes("device_code is not allowed")], ["invalid_request", true], why);
});

test("after five wrong codes of one network even the right one is refused", async () => {
  const guessed = await startIssuer();
  try {
    const visitor = createVisitor(guessed);
    const configuration = await discover(guessed, "cli", openid.None());
    const { user_code: code } = await openid.initiateDeviceAuthorization(configuration, { scope });
    const type = async (typed: string) => visitor.submit(await visitor.open(`${issuer}/device`), { user_code: typed });
    for (let times = 0; times < 5; times++) {
      const wrong = await type("BBBB-BBBB");
      assert.equal(wrong.status, 422);
      assert.match(wrong.text, /No device is waiting for this code/);
    }
    const right = await visitor.open(`${issuer}/device`);
    const refused = await visitor.submit(right, { user_code: code });
    assert.equal(refused.status, 429);
    assert.match(refused.text, /Try again in 10 minutes/);
  } finally {
    await guessed.close();
  }
});

test("a pushed request signs a person in, once, and its address holds nothing but its name", async () => {
  const configuration = await discover(account, nativeApplication.client_id, openid.None());
  const verifier = openid.randomPKCECodeVerifier();
  const state = openid.randomState();
  const url = await openid.buildAuthorizationUrlWithPAR(configuration, {
    redirect_uri: nativeApplication.redirect_uris[0] ?? "",
    scope,
    state,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  assert.deepEqual([...url.searchParams.keys()].sort(), ["client_id", "request_uri"]);
  const { visitor } = await signedIn(account);
  const back = await visitor.open(url);
  const checks = { pkceCodeVerifier: verifier, expectedState: state };
  const tokens = await openid.authorizationCodeGrant(configuration, back.url, checks);
  assert.ok(tokens.refresh_token, "offline_access is heard in a pushed request too");
  const foreign = new URL(url);
  foreign.searchParams.set("client_id", "console");
  const again = (await visitor.open(url)).url.searchParams;
  assert.deepEqual([again.get("error"), again.get("code")], ["invalid_request_uri", null]);
  // Of two addresses of the console none is sent back to.
  const answered = await visitor.open(foreign);
  assert.deepEqual([answered.status, answered.url.searchParams.get("code")], [400, null]);
});
