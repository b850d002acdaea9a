import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createSoftwareAuthenticator, passkeyOptionsOf } from "@signalbox/testing";
import type { Harness } from "./harness.ts";
import { baseUrl, bearer, startIssuer, startSecond } from "./oauth-fixture.ts";
import { applications, codeTo, createVisitor, startSignIn } from "./oauth-visitor.ts";

/** Without rules, and with a rule that every owner needs a passkey. */
let account: Harness;
let strict: Harness;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications });
  const rule = { "account.oauth.applications": applications, "account.sign-in.passkey-roles": ["owner"] };
  strict = await startSecond(account, rule);
});
after(async () => {
  await strict.close();
  await account.close();
});

const freshAddress = () => `${crypto.randomUUID()}@example.org`;
const isOffered = (text: string): boolean => text.includes("Not now");

/** Signs in by a code, the one in the mail number `count`, on a device that can hold passkeys or cannot. */
async function signInByCode(address: string, { count = 1, passkeys = "yes", at = account } = {}) {
  const visitor = createVisitor(at);
  const { url, finish } = await startSignIn(at, { scope: "openid account:read account:security" });
  const asked = await visitor.submit(await visitor.open(url), { address }, "address");
  const shown = await visitor.submit(asked, { code: await codeTo(account, address, count), passkeys }, "code");
  return { visitor, finish, shown };
}

test("a person who takes the offer has a passkey at the end of the sign-in", async () => {
  const { visitor, finish, shown } = await signInByCode(freshAddress());
  assert.ok(isOffered(shown.text));
  const response = createSoftwareAuthenticator(new URL(baseUrl).origin).create(passkeyOptionsOf(shown));
  const headers = bearer((await finish((await visitor.submit(shown, { response }, "new-passkey")).url)).access_token);
  const { body } = await account.send("GET", "/api/account/passkeys/", { headers });
  assert.equal(body.items.length, 1);
});

test("a person who has removed the passkey of the offer is not asked again", async () => {
  const address = freshAddress();
  const { visitor, finish, shown } = await signInByCode(address);
  const response = createSoftwareAuthenticator(new URL(baseUrl).origin).create(passkeyOptionsOf(shown));
  const headers = bearer((await finish((await visitor.submit(shown, { response }, "new-passkey")).url)).access_token);
  const { body } = await account.send("GET", "/api/account/passkeys/", { headers });
  const removed = await account.send("DELETE", `/api/account/passkeys/${body.items[0].id}`, { headers });
  assert.equal(removed.status, 204);
  assert.ok((await signInByCode(address, { count: 2 })).shown.url.searchParams.has("code"));
});

test("a person who declines goes on, signed in by the code", async () => {
  const { visitor, finish, shown } = await signInByCode(freshAddress());
  assert.ok((await finish((await visitor.submit(shown, {}, "not-now")).url)).access_token);
});

test("a person who has declined is not asked again", async () => {
  const address = freshAddress();
  const { visitor, shown } = await signInByCode(address);
  await visitor.submit(shown, {}, "not-now");
  assert.ok((await signInByCode(address, { count: 2 })).shown.url.searchParams.has("code"));
});

test("an offer that was left unanswered is made again", async () => {
  const address = freshAddress();
  await signInByCode(address);
  assert.ok(isOffered((await signInByCode(address, { count: 2 })).shown.text));
});

test("a passkey that cannot be verified leaves the choice", async () => {
  const { visitor, shown } = await signInByCode(freshAddress());
  const refused = await visitor.submit(shown, { response: "{}" }, "new-passkey");
  assert.equal(refused.status, 422);
  assert.ok((await visitor.submit(refused, {}, "not-now")).url.searchParams.has("code"));
});

test("a device that can hold no passkey is offered none", async () => {
  const { shown } = await signInByCode(freshAddress(), { passkeys: "" });
  assert.ok(shown.url.searchParams.has("code"));
});

test("a person who needs a passkey cannot decline", async () => {
  const { visitor, shown } = await signInByCode(freshAddress(), { at: strict });
  assert.ok(!isOffered(shown.text));
  const refused = await visitor.submit(shown, { step: "not-now" }, "new-passkey");
  assert.equal(refused.status, 400);
});
