import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createSoftwareAuthenticator, passkeyOptionsOf } from "@signalbox/testing";
import type { Harness } from "./harness.ts";
import { baseUrl, bearer, issuer, startIssuer, startSecond } from "./oauth-fixture.ts";
import { applications, codeTo, createVisitor, signedIn, startSignIn } from "./oauth-visitor.ts";

/** Without rules, and with a rule that every owner needs a passkey. */
let lenient: Harness;
let strict: Harness;
before(async () => {
  lenient = await startIssuer({ "account.oauth.applications": applications });
  const rule = { "account.oauth.applications": applications, "account.sign-in.passkey-roles": ["owner"] };
  strict = await startSecond(lenient, rule);
});
after(async () => {
  await strict.close();
  await lenient.close();
});

const scope = "openid account:read account:security";
const { origin } = new URL(baseUrl);

/** Types the mailed code where owners need a passkey; `count` is the number of code mails by then. */
async function withCode(address: string, count = 1) {
  const visitor = createVisitor(strict);
  const { url, finish } = await startSignIn(strict, { scope });
  const asked = await visitor.submit(await visitor.open(url), { address }, "address");
  const shown = await visitor.submit(asked, { code: await codeTo(lenient, address, count) }, "code");
  return { visitor, finish, shown };
}

/** A person who added a passkey before there was a rule. */
async function holder() {
  const person = await signedIn(lenient, { scope });
  const authenticator = createSoftwareAuthenticator(origin);
  const page = await person.visitor.open(`${issuer}/passkeys`);
  await person.visitor.submit(page, { name: "Phone", response: authenticator.create(passkeyOptionsOf(page)) });
  return { ...person, authenticator, headers: bearer(person.access_token) };
}

test("a person who needs a passkey and has none adds one after the code", async () => {
  const { visitor, finish, shown } = await withCode(`${crypto.randomUUID()}@example.org`);
  assert.deepEqual([shown.status, /Add a passkey/.test(shown.text)], [200, true]);
  const response = createSoftwareAuthenticator(origin).create(passkeyOptionsOf(shown));
  const back = await visitor.submit(shown, { response }, "new-passkey");
  assert.ok((await finish(back.url)).access_token);
});

test("a passkey that cannot be verified is tried again on the same page", async () => {
  const { visitor, shown } = await withCode(`${crypto.randomUUID()}@example.org`);
  const forged = createSoftwareAuthenticator(origin).create(passkeyOptionsOf(shown), {
    origin: "https://evil.example",
  });
  const refused = await visitor.submit(shown, { response: forged }, "new-passkey");
  assert.deepEqual([refused.status, /was not added/.test(refused.text)], [422, true]);
  const response = createSoftwareAuthenticator(origin).create(passkeyOptionsOf(refused));
  assert.ok((await visitor.submit(refused, { response }, "new-passkey")).url.searchParams.has("code"));
});

test("the code of a person who has the needed passkey signs nobody in", async () => {
  const { address } = await holder();
  const { shown } = await withCode(address, 2);
  assert.deepEqual([shown.status, /signs in with its passkey/.test(shown.text)], [422, true]);
});

test("the passkey of a person who needs one signs in", async () => {
  const { authenticator } = await holder();
  const visitor = createVisitor(strict);
  const { url, finish } = await startSignIn(strict, { scope });
  const shown = await visitor.open(url);
  const back = await visitor.submit(shown, { response: authenticator.use(passkeyOptionsOf(shown)) }, "passkey");
  assert.ok((await finish(back.url)).access_token);
});

test("a second tab adds no passkey to an account that has one by then", async () => {
  const address = `${crypto.randomUUID()}@example.org`;
  const [first, second] = [await withCode(address, 1), await withCode(address, 2)];
  const add = ({ visitor, shown }: typeof first) => {
    const response = createSoftwareAuthenticator(origin).create(passkeyOptionsOf(shown));
    return visitor.submit(shown, { response }, "new-passkey");
  };
  assert.ok((await add(first)).url.searchParams.has("code"));
  assert.equal((await add(second)).status, 422);
});

test("a mailed code is no step-up for a person who needs a passkey", async () => {
  const { headers } = await holder();
  const { status, body } = await strict.send("POST", "/api/account/step-up/", { headers, body: {} });
  assert.deepEqual([status, body.error.details[0].code], [403, "passkey_required"]);
});

test("without passkeys among the methods no page offers them", async (t) => {
  const plain = await startSecond(lenient, {
    "account.oauth.applications": applications,
    "account.sign-in.methods": ["code"],
  });
  t.after(() => plain.close());
  const shown = await createVisitor(plain).open((await startSignIn(plain)).url);
  assert.deepEqual([shown.status, shown.text.includes("data-passkey")], [200, false]);
});

test("without codes among the methods a person without a passkey adds one", async (t) => {
  const without = await startSecond(lenient, {
    "account.oauth.applications": applications,
    "account.sign-in.methods": ["passkey"],
  });
  t.after(() => without.close());
  const address = `${crypto.randomUUID()}@example.org`;
  const visitor = createVisitor(without);
  const asked = await visitor.submit(await visitor.open((await startSignIn(without)).url), { address }, "address");
  const shown = await visitor.submit(asked, { code: await codeTo(lenient, address) }, "code");
  assert.match(shown.text, /Add a passkey/);
});
