import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createMovableClock, hours, seconds } from "@signalbox/core";
import { eventually } from "@signalbox/testing";
import { type Harness, startAccount } from "./harness.ts";
import { baseUrl, bearer, startIssuer, tablesWith, through } from "./oauth-fixture.ts";
import {
  application,
  applications,
  codeTo,
  createVisitor,
  passThrough,
  startSignIn,
  type Visitor,
} from "./oauth-visitor.ts";

const clock = createMovableClock();
let account: Harness;
let admin: Record<string, string>;
before(async () => {
  const overrides = { "account.oauth.applications": applications, "account.registration": "invited" };
  account = await startIssuer(overrides, { clock });
  admin = { "x-api-key": await account.firstKey() };
});
after(() => account.close());

const path = "/api/v1/invitations/";
const freshAddress = () => `${crypto.randomUUID()}@example.org`;
const invite = (body: object, headers = admin) => account.send("POST", path, { headers, body });
const mailsTo = (address: string) => account.mailbox.mails.filter(({ to }) => to === address);
const linkTo = (address: string, count = 1): Promise<string> =>
  eventually(
    () => mailsTo(address).flatMap(({ text }) => /^https:.*invitations\/.*$/m.exec(text)?.[0] ?? [])[count - 1] ?? null,
  );
const scope = "openid account:read account:write";
const post = (visitor: Visitor, page: Awaited<ReturnType<Visitor["open"]>>, step: string) =>
  visitor.submit(page, {}, step);

/** Opens the link, and follows it through the sign-in with a code to the last page. */
async function follow(visitor: Visitor, link: string, address: string, name = "") {
  const asked = await post(visitor, await visitor.open(new URL(link)), "sign-in");
  const before = mailsTo(address).length;
  const second = await visitor.submit(asked, { address, name }, "address");
  const code = await eventually(() => {
    const codes = mailsTo(address)
      .slice(before)
      .flatMap(({ text }) => /^ {4}(\d{8})$/m.exec(text)?.[1] ?? []);
    return codes[0] ?? null;
  });
  return visitor.submit(second, { code }, "code");
}

/** Signs in to the application in a browser with a session. */
async function tokenOf(visitor: Visitor) {
  const { url, finish } = await startSignIn(account, { scope });
  return bearer((await finish((await visitor.open(url)).url)).access_token);
}

test("an invited person reads who invites to what, and gets an account with the role by a code", async () => {
  const address = freshAddress();
  const { status, body } = await invite({ address, role: "viewer", locale: "de" });
  assert.deepEqual([status, body.status, body.url, body.locale], [201, "open", null, "de"]);
  const link = await linkTo(address);
  assert.match(mailsTo(address)[0]?.subject ?? "", /eingeladen/);
  const visitor = createVisitor(account, { "accept-language": "en" });
  const page = await visitor.open(new URL(link));
  assert.match(page.text, /“Administrator”.* invites you to Signalbox/);
  assert.match(page.text, /Role: viewer/);
  const last = await follow(visitor, link, address);
  assert.match(last.text, /The invitation is accepted/);
  assert.match(last.text, />Open the console<.*>Read the documentation</s);
  const headers = await tokenOf(visitor);
  const own = (await account.send("GET", "/api/account/", { headers })).body;
  assert.deepEqual([own.contact_address, own.locale], [address, "de"]);
  const shown = (await account.send("GET", `${path}${body.id}`, { headers: admin })).body;
  assert.deepEqual([shown.status, shown.accepted_by], ["accepted", own.id]);
  const seen = (await account.send("GET", `/api/accounts/${own.id}`, { headers: admin })).body;
  assert.deepEqual(seen.roles, ["viewer"]);
  const names = ["invitation.created", "invitation.accepted"] as const;
  const [created, accepted] = await account.eventsOf(shown.invited_by, 2, ...names);
  assert.deepEqual(
    [created?.name, accepted?.name, accepted?.subject],
    ["invitation.created", "invitation.accepted", body.id],
  );
  const log = (await account.send("GET", `/api/accounts/${own.id}/audit/?action=invitation.accept`, { headers: admin }))
    .body;
  assert.equal(log.items[0].subject, body.id);
});

test("an invited person gives a name, which the new account has", async () => {
  const address = freshAddress();
  await invite({ address });
  const visitor = createVisitor(account);
  const link = await linkTo(address);
  const asked = await post(visitor, await visitor.open(new URL(link)), "sign-in");
  assert.match(asked.text, /<label for="name">Your name<\/label>/);
  const refused = await visitor.submit(asked, { address, name: "a\u202Eb" }, "address");
  assert.deepEqual([refused.status, /Enter a name/.test(refused.text)], [422, true]);
  await follow(visitor, link, address, "Ada ❤️");
  const own = (await account.send("GET", "/api/account/", { headers: await tokenOf(visitor) })).body;
  assert.equal(own.display_name, "Ada ❤️");
});

test("the name in an invitation becomes that of the account unless the person changes it", async () => {
  for (const [typed, expected] of [
    [undefined, "Grace Hopper"],
    ["Admiral Grace", "Admiral Grace"],
    ["", "Grace Hopper"],
  ] as const) {
    const address = freshAddress();
    const { body } = await invite({ address, name: "Grace Hopper" });
    assert.equal(body.name, "Grace Hopper");
    const visitor = createVisitor(account);
    const link = await linkTo(address);
    const asked = await post(visitor, await visitor.open(new URL(link)), "sign-in");
    assert.match(asked.text, /<input id="name" name="name" type="text" value="Grace Hopper"/);
    await follow(visitor, link, address, typed);
    const own = (await account.send("GET", "/api/account/", { headers: await tokenOf(visitor) })).body;
    assert.equal(own.display_name, expected);
  }
});

test("the mail of an invitation into an account says so", async () => {
  const address = freshAddress();
  await invite({ address, account_id: "mine", role: "developer" });
  await linkTo(address);
  const [mail] = mailsTo(address);
  assert.equal(mail?.subject, "You are invited into an account at Signalbox");
  assert.match(mail?.text ?? "", /to work in its account at Signalbox, with the role developer/);
});

test("opening a link accepts nothing, however often", async () => {
  const address = freshAddress();
  const { body } = await invite({ address });
  const link = await linkTo(address);
  for (const method of ["GET", "HEAD", "GET"]) assert.equal((await through(account)(link, { method })).status, 200);
  const { items } = (await account.send("GET", `${path}?status=open`, { headers: admin })).body;
  assert.ok(items.some(({ id }: { id: string }) => id === body.id));
});

test("a person without an invitation gets a code like everybody, and after it no account", async () => {
  const address = freshAddress();
  const visitor = createVisitor(account);
  const { url } = await startSignIn(account, { scope });
  const asked = await visitor.submit(await visitor.open(url), { address }, "address");
  const refused = await visitor.submit(asked, { code: await codeTo(account, address) }, "code");
  assert.deepEqual([refused.status, /There is no account with this address/.test(refused.text)], [403, true]);
  const { items } = (await account.send("GET", `/api/accounts/?search=${address}`, { headers: admin })).body;
  assert.deepEqual(items, []);
});

test("an existing account gets the role by consent, not a second account, and another session is asked first", async () => {
  const [ada, eve] = [freshAddress(), freshAddress()];
  for (const address of [ada, eve]) {
    await invite({ address });
    await follow(createVisitor(account), await linkTo(address), address);
  }
  const { body } = await invite({ address: ada, role: "operator" });
  const link = await linkTo(ada, 2);
  // Eve has opened Ada's mail: her account cannot take what was meant for Ada.
  const visitor = createVisitor(account);
  const { url } = await startSignIn(account, { scope });
  await passThrough(visitor, account, url, eve);
  const asEve = await visitor.open(new URL(link));
  assert.match(asEve.text, /not the address of this account/);
  const forced = await through(account)(link, { method: "POST", body: new URLSearchParams({ step: "accept" }) });
  assert.match(await forced.text(), /Accept and sign in/);
  // Ada signs in on the same browser, is asked, and accepts.
  const asked = await follow(visitor, link, ada);
  assert.match(asked.text, /You are signed in as “Account/);
  assert.equal((await account.send("GET", `${path}${body.id}`, { headers: admin })).body.status, "open");
  assert.match((await post(visitor, asked, "accept")).text, /The invitation is accepted/);
  const { items } = (await account.send("GET", `/api/accounts/?search=${ada}`, { headers: admin })).body;
  assert.deepEqual(
    items.map(({ roles }: { roles: string[] }) => roles),
    [["owner", "operator"]],
  );
  // Nobody accepts twice.
  assert.equal((await createVisitor(account).open(new URL(link))).status, 410);
});

test("a link that is passed on by hand is shown once, and is good for one person", async () => {
  const { body } = await invite({ role: "viewer", scopes_max: ["images:read"] });
  assert.match(body.url, new RegExp(`^${baseUrl}/oauth/invitations/sbx_link_`));
  assert.deepEqual(await tablesWith(account, body.url.split("/").at(-1)), []);
  const address = freshAddress();
  const last = await follow(createVisitor(account), body.url, address);
  assert.match(last.text, /The invitation is accepted/);
  const other = await createVisitor(account).open(new URL(body.url));
  assert.deepEqual([other.status, /no longer valid/.test(other.text)], [410, true]);
  const { items } = (await account.send("GET", `/api/accounts/?search=${address}`, { headers: admin })).body;
  assert.deepEqual([items.length, items[0].roles], [1, ["viewer"]]);
});

test("scopes at most bound the tokens and keys of the account", async () => {
  const address = freshAddress();
  await invite({ address, role: "owner", scopes_max: ["account:read", "images:read"] });
  const visitor = createVisitor(account);
  await follow(visitor, await linkTo(address), address);
  const { status, body } = await account.send("GET", "/api/account/credential/", { headers: await tokenOf(visitor) });
  assert.deepEqual([status, body.scopes], [200, ["account:read"]], JSON.stringify(body));
});

test("a stranger's mailbox gets five invitations a day, and an administrator sends as many as the property says", async () => {
  const address = freshAddress();
  const { id } = (await invite({ address })).body;
  const resend = () => account.send("POST", `${path}${id}/resend`, { headers: admin });
  for (let count = 1; count < 5; count++) assert.equal((await resend()).status, 200);
  const refused = await resend();
  assert.deepEqual([refused.status, refused.body.error.details[0].field], [409, "address"]);
  await account.send("DELETE", `${path}${id}`, { headers: admin });
  assert.equal((await invite({ address })).body.error.details[0].field, "address");

  const few = await startIssuer({ "account.invitations.max": 2 });
  try {
    const headers = { "x-api-key": await few.firstKey() };
    const statuses: number[] = [];
    for (let count = 0; count < 3; count++) {
      statuses.push((await few.send("POST", path, { headers, body: { address: freshAddress() } })).status);
    }
    assert.deepEqual(statuses, [201, 201, 409]);
  } finally {
    await few.close();
  }
});

test("nobody invites to more than they have, and bad input is named", async () => {
  const key = await account.send("POST", "/api/account/api-keys/", {
    headers: admin,
    body: { name: "people", scopes: ["account:admin", "account:security"] },
  });
  const beyond = await invite({ role: "operator" }, { "x-api-key": key.body.key });
  assert.equal(beyond.status, 403);
  const cases: readonly (readonly [object, string, string])[] = [
    [{ address: "no address" }, "address", "invalid"],
    [{ role: "king" }, "role", "invalid_value"],
    [{ role: "viewer", scopes_max: ["account:admin"] }, "scopes_max", "not_allowed"],
    [{ expires_at: "2020-01-01T00:00:00Z" }, "expires_at", "passed"],
    [{ expires_at: "2999-01-01T00:00:00Z" }, "expires_at", "too_big"],
    [{ locale: "tlh" }, "locale", "unsupported"],
    [{ name: "a\u202Eb" }, "name", "invalid"],
    [{ nickname: "Ada" }, "nickname", "unknown_member"],
  ];
  for (const [body, field, code] of cases) {
    const { status, body: answer } = await invite(body);
    assert.deepEqual([status, answer.error.details[0].field, answer.error.details[0].code], [422, field, code]);
  }
});

test("an administrator who has lost the role invites nobody any more", async () => {
  const address = freshAddress();
  await invite({ address, role: "admin" });
  const visitor = createVisitor(account);
  await follow(visitor, await linkTo(address), address);
  const { url, finish } = await startSignIn(account, { scope: "openid account:read account:admin account:security" });
  const headers = bearer((await finish((await visitor.open(url)).url)).access_token);
  const { status, body } = await invite({ role: "admin", scopes_max: ["account:admin"] }, headers);
  assert.equal(status, 201, JSON.stringify(body));
  const { id } = (await account.send("GET", "/api/account/", { headers })).body;
  await account.send("PATCH", `/api/accounts/${id}`, { headers: admin, body: { roles: ["owner"] } });
  assert.equal((await createVisitor(account).open(new URL(body.url))).status, 410);
});

test("in the graph an invitation is made, listed, sent again and revoked", async () => {
  clock.advance(1);
  const made = await account.query(
    admin,
    `mutation { createInvitation(input: { role: "viewer", scopesMax: ["images:read"] }) {
      invitation { id role scopesMax status invitedBy } url errors { field } } }`,
  );
  const { invitation, url } = made.data.createInvitation;
  assert.deepEqual([invitation.role, invitation.scopesMax, invitation.status], ["viewer", ["images:read"], "open"]);
  assert.match(url, /sbx_link_/);
  const text = `{ invitation(id: "${invitation.id}") { id } invitations(first: 1, status: open) { edges { node { id } } } }`;
  const { data } = await account.query(admin, text);
  assert.deepEqual([data.invitation.id, data.invitations.edges[0].node.id], [invitation.id, invitation.id]);
  const input = `input: { id: "${invitation.id}" }`;
  const resent = await account.query(admin, `mutation { resendInvitation(${input}) { url } }`);
  assert.notEqual(resent.data.resendInvitation.url, url);
  const revoked = await account.query(admin, `mutation { revokeInvitation(${input}) { invitation { status } } }`);
  assert.equal(revoked.data.revokeInvitation.invitation.status, "revoked");
});

test("where registration is closed nobody is invited, and a code under way makes no account", async () => {
  const closing = await startIssuer({ "account.oauth.applications": applications, "account.registration": "closed" });
  try {
    const headers = { "x-api-key": await closing.firstKey() };
    const { status, body } = await closing.send("POST", path, { headers, body: {} });
    assert.deepEqual([status, body.error.details[0].code], [409, "registration_closed"]);
    const visitor = createVisitor(closing);
    const { url } = await startSignIn(closing, { client: application.client_id });
    const address = freshAddress();
    const asked = await visitor.submit(await visitor.open(url), { address }, "address");
    const refused = await visitor.submit(asked, { code: await codeTo(closing, address) }, "code");
    assert.equal(refused.status, 403);
  } finally {
    await closing.close();
  }
});

test("another issuer's login without an account needs an invitation where its issuer says so", async () => {
  const strict = await startAccount({}, { issuer: { provision: "invited" }, clock });
  try {
    const headers = { "x-api-key": await strict.firstKey() };
    const send = (body: object) => strict.send("POST", path, { headers, body });
    const address = freshAddress();
    const person = strict.person({ email: address, email_verified: true });
    const read = (as: Record<string, string>) => strict.send("GET", "/api/account/", { headers: as });
    const refused = await read(person);
    assert.equal(refused.status, 401);
    assert.match(refused.body.error.message, /need an invitation/);
    // Roles come with its tokens, and it has no page of ours for a link.
    assert.equal((await send({ address, role: "admin" })).body.error.details[0].code, "roles_by_issuer");
    assert.equal((await send({})).body.error.details[0].field, "address");
    const { id } = (await send({ address, scopes_max: ["account:read"] })).body;
    assert.equal((await read(strict.person({ email: address }))).status, 401, "an unverified address proves nothing");
    // Services remember a refusal for ten seconds.
    clock.advance(seconds(11));
    const own = await read(person);
    assert.equal(own.status, 200);
    const { scopes } = (await strict.send("GET", "/api/account/credential/", { headers: person })).body;
    assert.deepEqual(scopes, ["account:read"]);
    const shown = (await strict.send("GET", `${path}${id}`, { headers })).body;
    assert.deepEqual([shown.status, shown.accepted_by], ["accepted", own.body.id]);
  } finally {
    await strict.close();
  }
});

test("a revoked, expired or replaced link is refused in plain words, and the address can be invited again", async () => {
  const address = freshAddress();
  const { body } = await invite({ address });
  const first = await linkTo(address);
  const again = await invite({ address });
  assert.deepEqual([again.status, again.body.error.details[0].code], [409, "already_invited"]);
  const resent = await account.send("POST", `${path}${body.id}/resend`, { headers: admin });
  assert.equal(resent.status, 200);
  const second = await linkTo(address, 2);
  const statusOf = async (link: string) => (await createVisitor(account).open(new URL(link))).status;
  assert.deepEqual([await statusOf(first), await statusOf(second)], [404, 200]);
  clock.advance(hours(24 * 7));
  const ended = await createVisitor(account).open(new URL(second));
  assert.deepEqual([ended.status, /Ask “Administrator”.* for a new one/.test(ended.text)], [410, true]);
  const revoked = await account.send("DELETE", `${path}${body.id}`, { headers: admin });
  assert.deepEqual([revoked.status, revoked.body.status], [200, "revoked"]);
  assert.equal((await account.send("POST", `${path}${body.id}/resend`, { headers: admin })).status, 409);
  assert.equal((await invite({ address })).status, 201);
  assert.equal(await statusOf(`${baseUrl}/oauth/invitations/sbx_link_guessed`), 404);
});
