import assert from "node:assert/strict";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createOutbox } from "@signalbox/events";
import { openDatabase } from "@signalbox/service";
import { sql } from "@signalbox/storage";
import { testContext, testDatabase } from "@signalbox/testing";
import { settleAddresses } from "../src/contacts/verified-addresses.ts";
import { openAccountService } from "../src/open-account-service.ts";
import { properties } from "../src/properties.ts";
import { codeIn, contactsOf, freshAddress, linkIn } from "./contact-parts.ts";
import type { Harness } from "./harness.ts";
import { openInside } from "./inside.ts";
import { baseUrl, bearer, startIssuer } from "./oauth-fixture.ts";
import { applications, codeTo, createVisitor, signedIn, type Visitor } from "./oauth-visitor.ts";

let account: Harness;
let administrator: Record<string, string>;
let contacts: ReturnType<typeof contactsOf>;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications });
  administrator = { "x-api-key": await account.firstKey() };
  contacts = contactsOf(account);
});
after(() => account.close());

/** A person who has just signed in with their own address, which is in use and verified. */
async function personWith(address = freshAddress()) {
  const { access_token, visitor, idClaims } = await signedIn(account, { address });
  return { address, visitor, headers: bearer(access_token), id: idClaims?.sub ?? "" };
}

/** Opens the link from the mail in the browser. */
const openLink = async (visitor: Visitor, address: string, mailNumber = 1) =>
  visitor.open(baseUrl + linkIn(await account.mailbox.mailTo(address, mailNumber)).slice("/house".length));

const contactOf = async (headers: Record<string, string>) => {
  const { contact_address, contact_address_verified, pending_contact_address } = await contacts.read(headers);
  return [contact_address, contact_address_verified, pending_contact_address];
};
const detailOf = ({ status, body }: Awaited<ReturnType<typeof contacts.confirm>>) => [
  status,
  body.error?.details?.[0]?.code,
];
const moveTo = async (status: string, id: string) => {
  const options = { headers: administrator, body: { status, reason: "x" } };
  assert.equal((await account.send("POST", `/api/accounts/${id}/status`, options)).status, 200);
};

test("reading a mailbox is not enough to confirm it: the link requires a sign-in to the account that asked", async () => {
  const [mallory, victim] = [await personWith(freshAddress("mallory")), await personWith()];
  await contacts.change(mallory.headers, victim.address);
  const page = await openLink(victim.visitor, victim.address, 2);
  assert.equal(page.status, 200);
  assert.match(page.text, /The account “Account \w+” \(m…@example\.org\) asks to use a…@example\.org/);
  assert.match(page.text, /<h1>Sign in to confirm this address/);

  const signIn = await victim.visitor.press(page);
  assert.match(signIn.text, /<h1>Sign in<\/h1>/);
  const second = await victim.visitor.submit(signIn, { address: victim.address }, "address");
  const code = await codeTo(account, victim.address, 3);
  const last = await victim.visitor.submit(second, { code }, "code");
  assert.match(last.text, /<h1>Sign in to confirm this address/, "signed in, and to another account");
  assert.deepEqual(await contactOf(mallory.headers), [mallory.address, true, victim.address]);
  assert.deepEqual(await contactOf(victim.headers), [victim.address, true, null]);
});

test("a browser that is signed in to nothing signs in to the account that asked, and then its button confirms", async () => {
  const [person, wanted] = [await personWith(), freshAddress("new")];
  await contacts.change(person.headers, wanted);
  const elsewhere = createVisitor(account);
  const page = await openLink(elsewhere, wanted);
  await account.mailbox.mailTo(person.address, 2);
  const signIn = await elsewhere.press(page);
  const second = await elsewhere.submit(signIn, { address: person.address }, "address");
  // Comes after the code of the sign-in that created the account.
  const back = await elsewhere.submit(second, { code: await codeTo(account, person.address, 2) }, "code");
  assert.match(back.text, /<h1>Confirm this contact address/);
  assert.deepEqual([back.url.pathname, back.url.search], [page.url.pathname, ""]);
  assert.deepEqual(await contactOf(person.headers), [person.address, true, wanted], "nothing is confirmed by a look");
  assert.match((await elsewhere.press(back)).text, /<h1>The address is confirmed/);
  assert.deepEqual(await contactOf(person.headers), [wanted, true, null]);
  assert.equal((await elsewhere.press(back)).status, 410);
});

test("in the browser that is signed in to the account that asked the button confirms at once, and no other site presses it", async () => {
  const [person, wanted] = [await personWith(), freshAddress("new")];
  await contacts.change(person.headers, wanted);
  const page = await openLink(person.visitor, wanted);
  const pressed = (site: string) => {
    const cookie = [...person.visitor.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const path = page.url.href.replace(baseUrl, account.url);
    return fetch(path, { method: "POST", headers: { cookie, "sec-fetch-site": site } });
  };
  assert.equal((await pressed("cross-site")).status, 400);
  assert.equal((await pressed("same-site")).status, 400);
  assert.deepEqual(await contactOf(person.headers), [person.address, true, wanted]);
  assert.equal((await pressed("same-origin")).status, 200);
  assert.deepEqual(await contactOf(person.headers), [wanted, true, null]);
});

test("an address that another account has verified is refused only after its code", async () => {
  const [owner, other] = [await personWith(), await personWith()];
  const spelling = owner.address.toUpperCase().replace("EXAMPLE.ORG", "example.org");
  const asked = [await contacts.change(other.headers, freshAddress()), await contacts.change(other.headers, spelling)];
  assert.deepEqual(
    asked.map(({ status, body }) => [status, body.contact_address]),
    [200, 200].map((status) => [status, other.address]),
  );
  const mail = await account.mailbox.mailTo(spelling);
  assert.deepEqual(detailOf(await contacts.confirm(other.headers, "00000000")), [422, "wrong_code"]);
  assert.deepEqual(detailOf(await contacts.confirm(other.headers, codeIn(mail))), [409, "address_taken"]);
  assert.deepEqual(await contactOf(other.headers), [other.address, true, spelling]);

  // The pending address can be confirmed once the other account has given it up.
  await contacts.adopt(owner.headers, freshAddress());
  assert.equal((await contacts.resend(other.headers)).status, 202);
  const next = codeIn(await account.mailbox.mailTo(spelling, 2));
  assert.equal((await contacts.confirm(other.headers, next)).status, 200);
});

test("of two accounts that confirm one address at the same moment one has it", async () => {
  const [one, other, wanted] = [await personWith(), await personWith(), freshAddress("new")];
  const codes: string[] = [];
  for (const [index, { headers }] of [one, other].entries()) {
    await contacts.change(headers, wanted);
    codes.push(codeIn(await account.mailbox.mailTo(wanted, index + 1)));
  }
  const tries = [one, other].map(({ headers }, index) => contacts.confirm(headers, codes[index] ?? ""));
  const statuses = (await Promise.all(tries)).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [200, 409]);
});

test("an account that comes back finds its address unverified when another one has verified it meanwhile", async () => {
  const [gone, later] = [await personWith(), await personWith()];
  await moveTo("deleted", gone.id);
  await contacts.adopt(later.headers, gone.address, 2);
  await moveTo("active", gone.id);
  const read = await account.send("GET", `/api/accounts/${gone.id}`, { headers: administrator });
  assert.deepEqual([read.body.contact_address, read.body.contact_address_verified], [gone.address, false]);
  assert.equal((await signedIn(account, { address: gone.address })).idClaims?.sub, later.id);
});

test("an objection takes the address back from the account that a sign-in with it has made meanwhile", async () => {
  const [owner, thief] = [await personWith(), freshAddress("mallory")];
  await contacts.adopt(owner.headers, thief);
  // Comes after the code of the sign-in and the notice of the request.
  const told = await account.mailbox.mailTo(owner.address, 3);
  const lost = await personWith(owner.address);
  assert.notEqual(lost.id, owner.id, "the thief has the account");
  assert.equal((await contacts.follow(linkIn(told).slice("/house".length))).status, 200);
  assert.deepEqual(await contactOf(lost.headers), [owner.address, false, owner.address]);
  const [entry] = (await account.send("GET", `/api/accounts/${lost.id}/audit/`, { headers: administrator })).body.items;
  assert.deepEqual([entry.action, entry.actor.kind], ["account.contact_release", "system"]);
  assert.equal((await signedIn(account, { address: owner.address })).idClaims?.sub, owner.id);
});

test("addresses that two accounts had before are settled: the oldest keeps it, the other is told in audit and event", async () => {
  const [older, younger] = [await personWith(), await personWith()];
  const { prisma, service } = openInside(account);
  const address = older.address.replace("ada-", "ädä-");
  for (const id of [older.id, younger.id]) {
    await prisma.account.update({ where: { id }, data: { contactAddress: address, verifiedAddress: null } });
  }
  await settleAddresses(service);
  assert.deepEqual(await contactOf(older.headers), [address, true, null]);
  assert.deepEqual(await contactOf(younger.headers), [address, false, address]);
  const events = await account.eventsOf(younger.id, 1, "account.updated");
  const changed = events.map(({ data }) => "changed" in data && data.changed);
  assert.deepEqual(changed, [["contact_address_verified", "pending_contact_address"]]);
  const own = (await account.send("GET", "/api/account/audit/", { headers: younger.headers })).body.items;
  assert.ok(own.some(({ action }: { action: string }) => action === "account.contact_release"));
});

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
const addressMigration = "20261122073900_verified_address";

const insertAccount = sql(
  "",
  `insert into accounts (id, display_name, contact_address, contact_address_verified, locale, timezone, status, roles,
     created_at, updated_at, settings_updated_at)
   values ($1, $1, $2, true, 'en', 'UTC', $3, '{owner}', now() + $4 * interval '1 minute', now(), now())`,
);
const listAccounts = sql(
  "",
  `select id, contact_address_verified as verified, verified_address as canonical from accounts order by created_at`,
);

test("a database of the version before is settled: the oldest living account keeps an address, in whatever spelling", async (t) => {
  const [database, older] = [await testDatabase(), await mkdtemp(join(tmpdir(), "signalbox-prisma-"))];
  const context = testContext("account", properties, {
    "database.url": database.url,
    "events.url": database.url,
    "internal.token": "internal-token-of-the-account-tests-01",
    "secrets.keys": `test:${Buffer.alloc(32, 7).toString("base64")}`,
  });
  t.after(async () => {
    await context.close();
    await Promise.all([database.close(), rm(older, { recursive: true })]);
  });
  await cp(prismaDirectory, older, { recursive: true, filter: (path) => !path.includes(addressMigration) });
  const before = await openDatabase(context, older);
  const rows = [
    ["deleted", "Ada@example.org", "deleted"],
    ["older", "ADA@example.org", "suspended"],
    ["younger", "ada@Example.org", "active"],
    ["foreign", "bücher@bücher.example", "active"],
    ["foreigner", "BÜCHER@xn--bcher-kva.example", "pending"],
  ];
  for (const [index, row] of rows.entries()) await before.query(insertAccount, [...row, index]);

  const pool = await openDatabase(context, prismaDirectory);
  const outbox = createOutbox({ ...context, pool, maxBytes: 1_000_000 });
  await settleAddresses(openAccountService(context, { pool, outbox }));
  assert.deepEqual((await pool.query(listAccounts)).rows, [
    { id: "deleted", verified: true, canonical: "ada@example.org" },
    { id: "older", verified: true, canonical: "ada@example.org" },
    { id: "younger", verified: false, canonical: null },
    { id: "foreign", verified: true, canonical: "bücher@xn--bcher-kva.example" },
    { id: "foreigner", verified: false, canonical: null },
  ]);
});
