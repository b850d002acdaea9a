import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createSoftwareAuthenticator, eventually, passkeyOptionsOf } from "@signalbox/testing";
import { linkIn } from "./contact-parts.ts";
import type { Harness } from "./harness.ts";
import { baseUrl, bearer, issuer, startIssuer } from "./oauth-fixture.ts";
import { applications, codeTo, createVisitor, passThrough, signedIn, startSignIn } from "./oauth-visitor.ts";

let account: Harness;
let administrator: Record<string, string>;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications });
  administrator = { "x-api-key": await account.firstKey() };
});
after(() => account.close());

const reason = "Identified by passport.";
const freshAddress = () => `${crypto.randomUUID()}@example.org`;

async function person() {
  const who = await signedIn(account, { scope: "openid account:read account:write account:security" });
  const id = String(who.idClaims?.sub);
  return { ...who, id, at: `/api/accounts/${id}`, headers: bearer(who.access_token) };
}

type Person = Awaited<ReturnType<typeof person>>;

const help = (path: string, body: object) => account.send("POST", path, { headers: administrator, body });

const mailWith = (address: string, subject: string) =>
  eventually(() => account.mailbox.mails.find((mail) => mail.to === address && mail.subject === subject) ?? null);

async function addPasskey({ visitor, at }: Person): Promise<string> {
  const page = await visitor.open(`${issuer}/passkeys`);
  const response = createSoftwareAuthenticator(new URL(baseUrl).origin).create(passkeyOptionsOf(page));
  await visitor.submit(page, { name: "Phone", response });
  const { body } = await account.send("GET", `${at}/passkeys/`, { headers: administrator });
  return body.items[0].id;
}

test("an address that an administrator has set signs the person in", async () => {
  const { id, at } = await person();
  const contact_address = freshAddress();
  const { status, body } = await help(`${at}/contact-address`, { contact_address, reason });
  assert.deepEqual([status, body.contact_address, body.contact_address_verified], [200, contact_address, true]);
  const { url, finish } = await startSignIn(account);
  const back = await passThrough(createVisitor(account), account, url, contact_address);
  assert.equal((await finish(back)).claims()?.sub, id);
});

test("both mailboxes get a notice of an address that an administrator has set", async () => {
  const { at, address } = await person();
  const contact_address = freshAddress();
  await help(`${at}/contact-address`, { contact_address, reason });
  await mailWith(contact_address, "This is your contact address now");
  assert.ok(linkIn(await mailWith(address, "Your contact address has changed")));
});

test("the reason of a set address is in the owner's audit", async () => {
  const { at, headers } = await person();
  await help(`${at}/contact-address`, { contact_address: freshAddress(), reason });
  const { body } = await account.send("GET", "/api/account/audit/?action=account.contact_set", { headers });
  assert.deepEqual(
    body.items.map((entry: { reason: string; actor: { kind: string } }) => [entry.reason, entry.actor.kind]),
    [[reason, "administrator"]],
  );
});

test("an address of another account is not set", async () => {
  const [one, other] = [await person(), await person()];
  const { status, body } = await help(`${one.at}/contact-address`, { contact_address: other.address, reason });
  assert.deepEqual([status, body.error.details[0].code], [409, "address_taken"]);
});

test("a help without a reason is refused", async () => {
  const { at } = await person();
  assert.equal((await help(`${at}/contact-address`, { contact_address: freshAddress() })).status, 400);
});

test("a passkey that an administrator removes is told to its person", async () => {
  const owner = await person();
  const id = await addPasskey(owner);
  assert.equal((await help(`${owner.at}/passkeys/${id}/remove`, { reason })).status, 204);
  assert.match((await mailWith(owner.address, "Access to your account was ended")).text, new RegExp(id));
  const { body } = await account.send("GET", "/api/account/passkeys/", { headers: owner.headers });
  assert.deepEqual(body.items, []);
});

test("the read of a person's passkeys by an administrator is in their audit", async () => {
  const { at, headers } = await person();
  await account.send("GET", `${at}/passkeys/`, { headers: administrator });
  const { body } = await account.send("GET", "/api/account/audit/?action=account.read_passkeys", { headers });
  assert.equal(body.items.length, 1);
});

test("an export by an administrator is told to the person", async () => {
  const { id, at, address } = await person();
  const { status, body } = await account.send("GET", `${at}/export/`, { headers: administrator });
  assert.deepEqual([status, body.account.id, body.complete], [200, id, true]);
  await mailWith(address, "Your account was exported");
});

test("only a deleted account is purged before its time", async () => {
  const { at } = await person();
  assert.equal((await help(`${at}/purge`, { reason })).status, 409);
});

test("a deleted account that an administrator purges cannot be restored", async () => {
  const { at, headers } = await person();
  await account.send("DELETE", "/api/account/", { headers });
  assert.equal((await help(`${at}/purge`, { reason })).status, 200);
  assert.equal((await help(`${at}/status`, { status: "active", reason })).status, 409);
});

test("a code for the former address signs nobody in to the account", async () => {
  const { id, at, address } = await person();
  const visitor = createVisitor(account);
  const { url, finish } = await startSignIn(account);
  const asked = await visitor.submit(await visitor.open(url), { address }, "address");
  await help(`${at}/contact-address`, { contact_address: freshAddress(), reason });
  const shown = await visitor.submit(asked, { code: await codeTo(account, address, 2) }, "code");
  // The holder of the address has an account of their own from now on.
  assert.notEqual((await finish(shown.url)).claims()?.sub, id);
});
