import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "@signalbox/testing";
import * as openid from "openid-client";
import type { Harness } from "./harness.ts";
import { bearer, issuer, startIssuer } from "./oauth-fixture.ts";
import { applications, signedIn } from "./oauth-visitor.ts";

let account: Harness;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications });
});
after(() => account.close());

const offline = "openid offline_access account:read account:security";
const keeps = /these applications keep access to your account: Console &lt;b&gt;\./;
const listed = async (token: string) =>
  (await account.send("GET", "/api/account/sign-ins/", { headers: bearer(token) })).body.items?.length;

test("a sign-out names the applications that keep access, and says on the last page that they have it", async () => {
  const { visitor, configuration, refresh_token = "" } = await signedIn(account, { scope: offline });
  const page = await visitor.open(`${issuer}/end-session`);
  assert.match(page.text, keeps);
  const last = await visitor.submit(page, { logout: "yes" });
  assert.match(last.text, /Applications that keep access still have it/);
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
