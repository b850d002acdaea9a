import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createMovableClock, hours, minutes } from "@signalbox/core";
import { eventually } from "@signalbox/testing";
import { contactsOf, freshAddress } from "./contact-parts.ts";
import { addressBehindGateway, type Harness, startAccount } from "./harness.ts";
import { bearer, startIssuer } from "./oauth-fixture.ts";
import { applications, codeTo, createVisitor, passThrough, signedIn, startSignIn } from "./oauth-visitor.ts";

type Headers = Record<string, string>;

const clock = createMovableClock();
let account: Harness;
let contacts: ReturnType<typeof contactsOf>;
let administrator: Headers;
before(async () => {
  account = await startAccount({ "server.name": "Harbour", "server.support-url": "https://help.example/" }, { clock });
  contacts = contactsOf(account);
  administrator = { "x-api-key": await account.firstKey() };
});
after(() => account.close());

const scopes = ["account:read", "account:security"];
const post = (path: string, headers: Headers, body: object = {}) => account.send("POST", path, { headers, body });
const mailsTo = (address: string) => account.mailbox.mails.filter(({ to }) => to === address);

/** A person with a verified address, whose mails are in German. */
async function german() {
  const address = freshAddress();
  const { headers, id, signInAgain } = await contacts.personWith(address);
  const settings = { locale: "de", timezone: "Europe/Berlin" };
  assert.equal((await account.send("PATCH", "/api/account/settings/", { headers, body: settings })).status, 200);
  return { address, headers, id, signInAgain };
}

test("the owner gets a notice of a new key, rotated ones included, without the key itself", async () => {
  const { address, headers } = await german();
  const made = (await post("/api/account/api-keys/", headers, { name: "Buy at evil.example", scopes })).body;
  const mail = await account.mailbox.mailTo(address);
  assert.equal(mail.subject, "Ein neuer API-Schlüssel für Ihr Konto");
  assert.ok(mail.text.includes(`Schlüssel: ${made.hint}…\n`), mail.text);
  assert.match(mail.text, /Zeit: \d+\. \p{L}+ \d{4} um \d\d:\d\d MES?Z\nIP-Adresse: (::ffff:)?127\.0\.0\.1\n/u);
  assert.match(mail.text, /\n\n-- \nSie erhalten diese E-Mail, weil .*\nHilfe: https:\/\/help\.example\/\nHarbour, /);

  const rotated = (await post(`/api/account/api-keys/${made.id}/rotate`, headers)).body;
  const second = await account.mailbox.mailTo(address, 2);
  assert.ok(second.text.includes(`Schlüssel: ${rotated.hint}…\n`), second.text);
  for (const { text } of mailsTo(address)) {
    assert.ok(!text.includes(made.key) && !text.includes(rotated.key), "no mail has a secret");
    assert.ok(!text.includes("evil"), "nor anything that a user wrote");
  }
});

/** Adds a login to the account, of which its owner gets a notice. */
async function addLogin(headers: Headers): Promise<void> {
  const token = account.person().authorization.replace("Bearer ", "");
  assert.equal((await post("/api/account/identities/", headers, { token })).status, 201);
}

test("the owner gets a notice of a new login", async () => {
  const { address, headers } = await german();
  await addLogin(headers);
  assert.match((await account.mailbox.mailTo(address)).text, /^Identitätsanbieter: corp$/m);
});

test("the owner gets a notice of a new client and of its new secret", async (t) => {
  const issuing = await startIssuer({ "account.oauth.applications": applications });
  t.after(() => issuing.close());
  const { address, access_token } = await signedIn(issuing, { scope: "openid account:read account:security" });
  const send = (path: string, body: object) => issuing.send("POST", path, { headers: bearer(access_token), body });
  const { client_id, client_secret } = (await send("/api/account/clients/", { name: "robot", scopes })).body;
  const made = await issuing.mailbox.mailTo(address, 2);
  assert.equal(made.subject, "A new service client for your account");
  assert.ok(made.text.includes(`Client: ${client_id}\n`) && !made.text.includes(client_secret), made.text);
  assert.equal((await send(`/api/account/clients/${client_id}/secret/rotate`, {})).status, 200);
  assert.equal((await issuing.mailbox.mailTo(address, 3)).subject, "A new secret for a service client");
});

test("over the graph the mail has the address of who asked", async () => {
  const { address, headers } = await german();
  const text = "mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { apiKey { id } } }";
  await account.query(headers, text, { input: { name: "key", scopes } });
  assert.ok((await account.mailbox.mailTo(address)).text.includes(`IP-Adresse: ${addressBehindGateway}\n`));
});

test("repeated and refused requests send no further notice", async () => {
  const { address, headers } = await german();
  const repeated = { ...headers, "idempotency-key": crypto.randomUUID() };
  const body = { name: "key", scopes };
  for (let count = 0; count < 2; count++) {
    assert.equal((await account.send("POST", "/api/account/api-keys/", { headers: repeated, body })).status, 201);
  }
  assert.equal((await post("/api/account/api-keys/", headers, { ...body, scopes: ["nothing"] })).status, 422);
  await addLogin(headers);
  await account.mailbox.mailTo(address, 2);
  assert.deepEqual(
    mailsTo(address)
      .map(({ subject }) => subject)
      .sort(),
    ["Ein neuer API-Schlüssel für Ihr Konto", "Ein neuer Anmeldeweg für Ihr Konto"].sort(),
  );
});

test("the owner of a disabled, suspended or deleted account gets a notice with the way back", async () => {
  const { address, headers, id } = await german();
  assert.equal((await post("/api/account/status/", headers, { status: "disabled", reason: "holiday" })).status, 200);
  assert.match((await account.mailbox.mailTo(address)).text, /melden Sie sich an und beantragen Sie/);
  const move = (status: string) =>
    post(`/api/accounts/${id}/status`, administrator, { status, reason: "secret reasons" });
  await move("active");
  await move("suspended");
  const suspended = await account.mailbox.mailTo(address, 2);
  assert.equal(suspended.subject, "Ihr Konto wurde gesperrt");
  assert.match(suspended.text, /Ein Administrator von Harbour kann die Sperre aufheben/);
  await move("deleted");
  const deleted = await account.mailbox.mailTo(address, 3);
  const shown = { year: "numeric", month: "long", day: "numeric", timeZone: "Europe/Berlin" } as const;
  const eraseOn = new Intl.DateTimeFormat("de", shown).format(new Date(clock.nowMs() + hours(30 * 24)));
  assert.ok(deleted.text.includes(`Bis ${eraseOn} um`), deleted.text);
  assert.match(deleted.text, /kann ein Administrator von Harbour es zurückholen/);
  for (const { text } of mailsTo(address)) assert.doesNotMatch(text, /secret reasons|holiday/);
});

test("an unverified address gets no notice", async () => {
  const wanted = freshAddress();
  const headers = account.person();
  await contacts.change(headers, wanted);
  await account.mailbox.mailTo(wanted);
  assert.equal((await post("/api/account/api-keys/", headers, { name: "key", scopes })).status, 201);
  await contacts.resend(headers);
  await account.mailbox.mailTo(wanted, 2);
  assert.deepEqual(new Set(mailsTo(wanted).map(({ subject }) => subject)), new Set(["Confirm your contact address"]));
});

test("a program that creates keys all day does not fill a mailbox: twenty mails of a kind an hour, other kinds unaffected", async () => {
  const { address, headers, signInAgain } = await german();
  const make = async (as: Headers) =>
    assert.equal((await post("/api/account/api-keys/", as, { name: "key", scopes })).status, 201);
  for (let count = 0; count < 25; count++) await make(headers);
  await addLogin(headers);
  await account.mailbox.mailTo(address, 21);
  const ofKeys = () => mailsTo(address).filter(({ subject }) => subject.includes("API-Schlüssel")).length;
  assert.deepEqual([ofKeys(), mailsTo(address).length], [20, 21]);
  clock.advance(hours(1) + minutes(1));
  await make(signInAgain());
  await account.mailbox.mailTo(address, 22);
  assert.equal(ofKeys(), 21);
});

test("the owner gets a notice of a sign-in with a new browser, and of no other", async (t) => {
  const issuing = await startIssuer({ "account.oauth.applications": applications });
  t.after(() => issuing.close());
  const { address, visitor } = await signedIn(issuing);
  const signIn = async (browser: typeof visitor) => {
    browser.cookies.delete("signalbox_session");
    await passThrough(browser, issuing, (await startSignIn(issuing)).url, address);
  };
  await signIn(visitor);
  const agent = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0 Buy/evil.example";
  const other = createVisitor(issuing, { "user-agent": agent });
  await signIn(other);
  await codeTo(issuing, address, 3);
  const told = () => issuing.mailbox.mails.filter(({ to, subject }) => to === address && /new browser/.test(subject));
  const [mail] = await eventually(() => told().length > 0 && told());
  assert.match(mail?.text ?? "", /^Browser: Firefox, Linux\nTime: .+\nIP address: .*127\.0\.0\.1$/m);
  assert.ok(!mail?.text.includes("evil"));
  const [page = ""] = /^http\S+\/oauth\/sign-ins$/m.exec(mail?.text ?? "") ?? [];
  assert.match((await other.open(page)).text, /<h1>Your sign-ins<\/h1>/, "the mail leads to where a sign-in ends");
  await signIn(other);
  await signIn(createVisitor(issuing));
  await eventually(() => told().length === 2);
});
