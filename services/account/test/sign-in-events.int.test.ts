import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { EventName } from "@signalbox/contracts";
import { createManualClock, minutes } from "@signalbox/core";
import { createSoftwareAuthenticator, eventually, passkeyOptionsOf } from "@signalbox/testing";
import { codeIn } from "./contact-parts.ts";
import type { Harness } from "./harness.ts";
import { baseUrl, bearer, issuer, startIssuer } from "./oauth-fixture.ts";
import { applications, createVisitor, signedIn, startSignIn } from "./oauth-visitor.ts";

const clock = createManualClock(new Date());
let account: Harness;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications }, { clock });
});
after(() => account.close());
// The provider signs by the machine's clock, and a token from the future is refused.
beforeEach(() => clock.set(new Date()));

const scope = "openid account:read account:write account:security";

async function person() {
  const who = await signedIn(account, { scope });
  return { ...who, id: String(who.idClaims?.sub), headers: bearer(who.access_token) };
}

/** The data of an account's events of this name, once there are `count` of them. */
const dataOf = (accountId: string, name: EventName, count = 1) =>
  eventually(async () => {
    const own = (await account.eventsOf(accountId, 1)).filter((event) => event.name === name);
    return own.length >= count && own.map(({ data }) => data as Record<string, unknown>);
  });

/** Types this code in a new sign-in of the address. */
async function tryCode(address: string, codes: readonly string[]) {
  const visitor = createVisitor(account);
  let shown = await visitor.submit(await visitor.open((await startSignIn(account)).url), { address }, "address");
  for (const code of codes) shown = await visitor.submit(shown, { code }, "code");
}

test("a sign-in with a code is an event of the account", async () => {
  const { id } = await person();
  const [data] = await dataOf(id, "sign_in.succeeded");
  assert.deepEqual(
    { ...data, address: null },
    { account_id: id, method: "code", application: "desk", address: null, browser: null, changed: [] },
  );
});

test("a sign-in with a passkey names it as its method", async () => {
  const { id, visitor } = await person();
  const authenticator = createSoftwareAuthenticator(new URL(baseUrl).origin);
  const page = await visitor.open(`${issuer}/passkeys`);
  await visitor.submit(page, { name: "Phone", response: authenticator.create(passkeyOptionsOf(page)) });
  const browser = createVisitor(account);
  const shown = await browser.open((await startSignIn(account)).url);
  await browser.submit(shown, { response: authenticator.use(passkeyOptionsOf(shown)) }, "passkey");
  const [, data] = await dataOf(id, "sign_in.succeeded", 2);
  assert.equal(data?.method, "passkey");
});

test("a minute of wrong codes is one event with their number", async () => {
  const { id, address } = await person();
  await tryCode(address, ["11111111", "22222222", "33333333"]);
  clock.advance(minutes(2));
  const told = await dataOf(id, "sign_in.refused");
  assert.deepEqual(
    told.map(({ reason, count }) => [reason, count]),
    [["wrong_code", 3]],
  );
});

test("an ended sign-in is an event with its id", async () => {
  const { id, headers } = await person();
  const { body } = await account.send("GET", "/api/account/sign-ins/", { headers });
  await account.send("DELETE", `/api/account/sign-ins/${body.items[0].id}`, { headers });
  const [data] = await dataOf(id, "sign_in.ended");
  assert.deepEqual([data?.ended, data?.sign_in_id], ["one", body.items[0].id]);
});

test("a sign-out everywhere is one event without an id", async () => {
  const { id, headers } = await person();
  await account.send("DELETE", "/api/account/sign-ins/", { headers });
  const [data] = await dataOf(id, "sign_in.ended");
  assert.deepEqual([data?.ended, data?.sign_in_id], ["all", null]);
});

test("a step-up by code is an event with the credential that it counts for", async () => {
  const { id, headers, address } = await person();
  const path = "/api/account/step-up/";
  await account.send("POST", path, { headers, body: {} });
  const mail = await account.mailbox.mailTo(address, 2);
  await account.send("POST", path, { headers, body: { code: codeIn(mail) } });
  const [data] = await dataOf(id, "step_up.passed");
  const { body } = await account.send("GET", "/api/account/credential/", { headers });
  assert.deepEqual([data?.method, data?.credential], ["code", body.id]);
});
