import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { stepUpMaxAgeMs } from "@signalbox/auth";
import { createMovableClock, minutes } from "@signalbox/core";
import { type Harness, startAccount } from "./harness.ts";
import { bearer, clientToken, makeClient, startIssuer } from "./oauth-fixture.ts";
import { applications, signedIn } from "./oauth-visitor.ts";

const clock = createMovableClock();
let account: Harness;
let issuing: Harness;
before(async () => {
  const overrides = { "account.oauth.applications": applications };
  [account, issuing] = [await startAccount({}, { clock }), await startIssuer(overrides)];
});
after(() => Promise.all([account.close(), issuing.close()]));

const path = "/api/account/credential/";
const whoAmI = async (instance: Harness, headers: Record<string, string>) => {
  const { status, body } = await instance.send("GET", path, { headers });
  assert.equal(status, 200);
  return body;
};
const inGraph = `{ viewer { id credential {
  kind id name signInId issuer scopes roles expiresAt recentSignInUntil } } }`;

test("a key learns its name, scopes and end, over REST and in the graph, whatever its scopes", async () => {
  const owner = account.person();
  const expires_at = new Date(clock.nowMs() + minutes(30)).toISOString();
  const body = { name: "deploy", scopes: ["images:read"], expires_at };
  const key = (await account.send("POST", "/api/account/api-keys/", { headers: owner, body })).body;
  const { id: accountId } = (await account.send("GET", "/api/account/", { headers: owner })).body;
  const headers = { "x-api-key": key.key };
  const { person_id, member_role, ...shown } = await whoAmI(account, headers);
  const { account_id, sign_in_id, expires_at: end, recent_sign_in_until, ...shared } = shown;
  assert.deepEqual([person_id, member_role], [null, null]);
  const expected = { kind: "api-key", id: key.id, name: "deploy", issuer: null, scopes: ["images:read"], roles: [] };
  assert.deepEqual(shared, expected);
  assert.deepEqual([account_id, sign_in_id, end, recent_sign_in_until], [accountId, null, expires_at, null]);
  const { data } = await account.query(headers, inGraph);
  const { signInId, expiresAt, recentSignInUntil, ...same } = data.viewer.credential;
  assert.deepEqual(same, expected);
  assert.deepEqual([data.viewer.id, signInId, expiresAt, recentSignInUntil], [accountId, null, expires_at, null]);
});

test("a person learns until when the sign-in is recent", async () => {
  const person = account.person({ jti: "who", scope: "account:read" });
  const signedInAt = Math.floor(clock.nowMs() / 1000) * 1000;
  const shown = await whoAmI(account, person);
  assert.deepEqual(
    [shown.kind, shown.id, shown.issuer, shown.scopes],
    ["token", "jti:corp:who", "corp", ["account:read"]],
  );
  assert.equal(shown.recent_sign_in_until, new Date(signedInAt + stepUpMaxAgeMs).toISOString());
  clock.advance(stepUpMaxAgeMs + minutes(1));
  assert.equal((await whoAmI(account, person)).recent_sign_in_until, null);
});

test("a token of the built-in issuer names its sign-in, and one of a client its client", async () => {
  const { access_token } = await signedIn(issuing, { scope: "openid account:read account:security" });
  const headers = bearer(access_token);
  const person = await whoAmI(issuing, headers);
  const [signIn] = (await issuing.send("GET", "/api/account/sign-ins/", { headers })).body.items;
  assert.deepEqual([person.issuer, person.sign_in_id, person.name], ["signalbox", signIn.id, signIn.browser]);
  const client = await makeClient(issuing, headers, ["account:read"]);
  const robot = await whoAmI(issuing, bearer((await clientToken(issuing, client)).access_token));
  const { kind, id, name, issuer, sign_in_id, recent_sign_in_until: recent } = robot;
  assert.deepEqual(
    [kind, id, name, issuer, sign_in_id, recent],
    ["client", client.id, "robot", "signalbox", null, null],
  );
});

test("a key whose check digits are wrong is told that it is mistyped", async () => {
  const owner = account.person();
  const body = { name: "deploy", scopes: ["images:read"] };
  const { key } = (await account.send("POST", "/api/account/api-keys/", { headers: owner, body })).body;
  const mistyped = `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`;
  const { status, body: refusal } = await account.send("GET", path, { headers: { "x-api-key": mistyped } });
  assert.equal(status, 401);
  assert.equal(refusal.error.message, "The API key is mistyped: a part is missing, or its check digits do not match.");
  assert.equal((await account.send("GET", path)).status, 401);
});
