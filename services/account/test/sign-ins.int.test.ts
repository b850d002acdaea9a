import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "@signalbox/testing";
import * as openid from "openid-client";
import { codeIn, freshAddress } from "./contact-parts.ts";
import { startElsewhere } from "./elsewhere.ts";
import { type Harness, startAccount } from "./harness.ts";
import { bearer, clientToken, makeClient, startIssuer } from "./oauth-fixture.ts";
import { applications, codeTo, createVisitor, signedIn, startSignIn } from "./oauth-visitor.ts";

type Headers = Record<string, string>;

let account: Harness;
let issuing: Harness;
before(async () => {
  [account, issuing] = [await startAccount(), await startIssuer({ "account.oauth.applications": applications })];
});
after(() => Promise.all([account.close(), issuing.close()]));

const path = "/api/account/sign-ins/";
const signOut = (instance: Harness, headers: Headers) => instance.send("DELETE", path, { headers });
const actionsOf = async (instance: Harness, headers: Headers): Promise<string[]> => {
  const { items } = (await instance.send("GET", "/api/account/audit/", { headers })).body;
  return items.map(({ action }: { action: string }) => action);
};
const withGraph = "mutation { signOutEverywhere { account { id } errors { message } } }";

/** A person of the built-in issuer with two sign-ins, an API key and a service client. */
async function busyPerson() {
  const scope = "openid offline_access account:read account:security";
  const first = await signedIn(issuing, { scope });
  const second = await signedIn(issuing, { scope, address: first.address });
  const own = bearer(first.access_token);
  const body = { name: "key", scopes: ["account:read", "account:security"] };
  const made = await issuing.send("POST", "/api/account/api-keys/", { headers: own, body });
  const client = await makeClient(issuing, own, ["account:read", "account:security"]);
  const { access_token: program } = await clientToken(issuing, client);
  const key: Headers = { "x-api-key": made.body.key };
  return { id: String(first.idClaims?.sub), first, second, client, key, program: bearer(program) };
}

type Credential = "a sign-in" | "an API key" | "a service client";
for (const credential of ["a sign-in", "an API key", "a service client"] as const satisfies Credential[]) {
  test(`${credential} signs its account out everywhere: people's tokens end in every service, programs go on`, async (t) => {
    const elsewhere = await startElsewhere(issuing);
    t.after(elsewhere.close);
    const { first, second, client, key, program } = await busyPerson();
    const stranger = await signedIn(issuing, { scope: "openid account:read" });
    const people = [bearer(first.access_token), bearer(second.access_token)];
    for (const each of [...people, key, program]) assert.equal(await elsewhere.may(each, "read"), "yes");

    const caller = { "a sign-in": bearer(first.access_token), "an API key": key, "a service client": program };
    assert.equal((await signOut(issuing, caller[credential])).status, 204);
    for (const each of people) {
      await eventually(async () => (await elsewhere.may(each, "read")) === "unauthorized", { timeoutMs: 2000 });
      await eventually(async () => (await issuing.send("GET", "/api/account/", { headers: each })).status === 401, {
        timeoutMs: 2000,
      });
    }
    for (const { configuration, refresh_token, visitor } of [first, second]) {
      await assert.rejects(openid.refreshTokenGrant(configuration, refresh_token ?? ""));
      const silent = await visitor.open((await startSignIn(issuing, { more: { prompt: "none" } })).url);
      assert.equal(silent.url.searchParams.get("error"), "login_required");
    }
    for (const each of [key, program, bearer(stranger.access_token)]) {
      assert.equal(await elsewhere.may(each, "read"), "yes");
    }
    assert.ok((await clientToken(issuing, client)).access_token);
    assert.equal((await actionsOf(issuing, key))[0], "account.sign_out");
    const again = await signedIn(issuing, { address: first.address });
    assert.equal(again.idClaims?.sub, first.idClaims?.sub, "the owner signs in again");
  });
}

test("the graph does the same", async () => {
  const { id, second, key } = await busyPerson();
  const { data } = await issuing.query(key, withGraph);
  assert.deepEqual(data.signOutEverywhere, { account: { id }, errors: [] });
  const headers = bearer(second.access_token);
  await eventually(async () => (await issuing.send("GET", "/api/account/", { headers })).status === 401, {
    timeoutMs: 2000,
  });
});

test("a sign-in that waits for its code is over: the code that is on its way is worth nothing", async () => {
  const { first, key } = await busyPerson();
  const thief = createVisitor(issuing);
  const { url } = await startSignIn(issuing);
  const page = await thief.submit(await thief.open(url), { address: first.address }, "address");
  const code = await codeTo(issuing, first.address, 3);
  await signOut(issuing, key);
  assert.match((await thief.submit(page, { code }, "code")).text, /does not work any more/);
});

test("with another issuer an old sign-in suffices; its tokens end in every service, with the step-ups, and later ones are good", async (t) => {
  const elsewhere = await startElsewhere(account);
  t.after(elsewhere.close);
  const address = freshAddress();
  const longAgo = Math.floor(account.context.clock.nowMs() / 1000) - 24 * 3600;
  const claims = { sub: crypto.randomUUID(), email: address, email_verified: true, auth_time: longAgo };
  const headers: Headers = account.person({ ...claims, jti: crypto.randomUUID() });
  const timeless = account.person({ ...claims, iat: undefined });
  for (const each of [headers, timeless]) assert.equal(await elsewhere.may(each, "write"), "yes");
  const makeKey = async () => {
    const body = { name: "key", scopes: ["account:read"] };
    return (await account.send("POST", "/api/account/api-keys/", { headers, body })).status;
  };
  const stepUp = (body: object) => account.send("POST", "/api/account/step-up/", { headers, body });
  await stepUp({});
  await stepUp({ code: codeIn(await account.mailbox.mailTo(address)) });
  await eventually(async () => (await makeKey()) === 201, { timeoutMs: 2000 });

  assert.equal((await signOut(account, headers)).status, 204);
  for (const each of [headers, timeless]) {
    assert.equal((await account.send("GET", "/api/account/", { headers: each })).status, 401);
    await eventually(async () => (await elsewhere.may(each, "read")) === "unauthorized", { timeoutMs: 2000 });
  }
  const later = account.person({ ...claims, iat: Math.floor(account.context.clock.nowMs() / 1000) + 1 });
  assert.equal(await elsewhere.may(later, "write"), "yes");
  const unproven = { headers: later, body: { name: "key", scopes: ["account:read"] } };
  assert.equal((await account.send("POST", "/api/account/api-keys/", unproven)).status, 403);
  assert.ok((await actionsOf(account, later)).includes("account.sign_out"));
  const restarted = await startElsewhere(account);
  t.after(restarted.close);
  assert.equal(await restarted.may(headers, "read"), "unauthorized", "after a restart as well");
});
