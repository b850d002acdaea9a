import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { createManualClock, seconds } from "@signalbox/core";
import { sql } from "@signalbox/storage";
import { eventually } from "@signalbox/testing";
import * as openid from "openid-client";
import type { Harness } from "./harness.ts";
import { bearer, claimsOf, databaseOf, discover, startIssuer, startSecond, tablesWith } from "./oauth-fixture.ts";
import { application, applications, signedIn } from "./oauth-visitor.ts";

const clock = createManualClock(new Date());
const overrides = { "account.oauth.applications": applications };
let account: Harness;
let second: Harness;
before(async () => {
  account = await startIssuer(overrides, { clock });
  second = await startSecond(account, overrides, { clock });
});
after(() => Promise.all([account.close(), second.close()]));
// The provider signs by the machine's clock, and a token from the future is refused.
beforeEach(() => clock.set(new Date()));

const scope = "openid offline_access account:read images:read";
const readWith = async (token: string) =>
  (await account.send("GET", "/api/account/", { headers: bearer(token) })).status;

/** A person with a refresh token, and the client's view of both instances. */
async function refreshable() {
  const person = await signedIn(account, { scope });
  const elsewhere = await discover(second, application.client_id, openid.None());
  const refresh = (token = person.refresh_token ?? "", at = person.configuration, parameters = {}) =>
    openid.refreshTokenGrant(at, token, parameters);
  return { ...person, elsewhere, refresh, first: person.refresh_token ?? "" };
}

test("requests that cross with one refresh token have one result, at any instance", async () => {
  const { configuration, elsewhere, first, refresh } = await refreshable();
  const instances = [configuration, elsewhere, configuration, elsewhere, configuration, elsewhere];
  const results = await Promise.all(instances.map((each) => refresh(first, each)));
  const [one] = results;
  assert.ok(one?.refresh_token && one.refresh_token !== first);
  for (const { refresh_token, access_token, id_token } of results) {
    assert.deepEqual([refresh_token, access_token, id_token], [one.refresh_token, one.access_token, one.id_token]);
  }
  assert.equal(await readWith(one.access_token), 200);
  assert.ok((await refresh(one.refresh_token)).refresh_token, "and it goes on");
});

test("an answer that was lost is given again for ten seconds; then the token is used up and all of the grant ends", async () => {
  const { elsewhere, first, refresh } = await refreshable();
  const answered = await refresh();
  clock.advance(seconds(10) - 1);
  assert.deepEqual((await refresh(first, elsewhere)).refresh_token, answered.refresh_token);
  clock.advance(1);
  await assert.rejects(refresh(), { error: "invalid_grant" });
  await assert.rejects(refresh(answered.refresh_token), { error: "invalid_grant" });
  await eventually(async () => (await readWith(answered.access_token)) === 401, { timeoutMs: 2000 });
});

test("once the successor was used, its predecessor is a stolen one, however soon it comes", async () => {
  const { first, refresh } = await refreshable();
  const answered = await refresh();
  const third = await refresh(answered.refresh_token);
  await assert.rejects(refresh(first), { error: "invalid_grant" });
  await assert.rejects(refresh(third.refresh_token), { error: "invalid_grant" });
});

test("another request with the same token gets nothing of the answer, and the grant goes on", async () => {
  const { first, configuration, refresh } = await refreshable();
  const narrow = await refresh(first, configuration, { scope: "account:read" });
  await assert.rejects(refresh(first), { error: "invalid_grant" });
  assert.equal(claimsOf(narrow.access_token).scope, "account:read");
  assert.equal(claimsOf((await refresh(narrow.refresh_token)).access_token).scope, "openid account:read images:read");
});

test("a used refresh token is good for nothing else meanwhile, and what was revoked is not given again", async () => {
  const { first, configuration, refresh } = await refreshable();
  const { refresh_token = "" } = await refresh();
  await openid.tokenRevocation(configuration, refresh_token);
  await assert.rejects(refresh(first), { error: "invalid_grant" });
});

test("where the first request broke off, the second is told to come again", async () => {
  const { first, refresh } = await refreshable();
  await refresh();
  await databaseOf(account).query(sql("", "delete from oauth_state where model = 'RefreshAnswer'"));
  const body = { grant_type: "refresh_token", client_id: application.client_id, refresh_token: first };
  const answer = await fetch(`${account.url}/oauth/token`, { method: "POST", body: new URLSearchParams(body) });
  assert.deepEqual([answer.status, answer.headers.get("retry-after")], [503, "1"]);
  clock.advance(seconds(10));
  await assert.rejects(refresh(first), { error: "invalid_grant" });
});

test("the answer that is kept is nowhere in clear", async () => {
  const { refresh } = await refreshable();
  const { refresh_token = "", access_token } = await refresh();
  for (const secret of [refresh_token, access_token]) assert.deepEqual(await tablesWith(account, secret), []);
});
