import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { scopesOfMember, scopesOfRole } from "@signalbox/contracts";
import { eventually } from "@signalbox/testing";
import * as openid from "openid-client";
import type { Harness } from "./harness.ts";
import { type People, peopleOf, scope } from "./member-parts.ts";
import { claimsOf, startIssuer } from "./oauth-fixture.ts";
import { applications, codeTo, createVisitor, startSignIn } from "./oauth-visitor.ts";

let account: Harness;
let send: People["send"];
let invite: People["invite"];
let person: People["person"];
let accept: People["accept"];
let joined: People["joined"];
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications });
  ({ send, invite, person, accept, joined } = peopleOf(account));
});
after(() => account.close());

test("a person who accepts an invitation into an account acts for it with the role's scopes", async () => {
  const { owner, member, acting, row, invitation } = await joined("developer");
  assert.deepEqual([invitation.account_id, invitation.role], [owner.id, "developer"]);
  assert.deepEqual([row.member_id, row.role, row.invited_by], [member.id, "developer", owner.id]);
  const who = (await send("GET", "/api/account/credential/", acting)).body;
  assert.deepEqual([who.account_id, who.person_id, who.member_role], [owner.id, member.id, "developer"]);
  assert.deepEqual(who.scopes.sort(), [...scopesOfMember("developer")].sort());
  const [mine] = (await send("GET", "/api/account/memberships/", member.headers)).body.items;
  assert.deepEqual([mine.account_id, mine.id], [owner.id, row.id]);
});

test("the page of an invitation into an account names the account with the role", async () => {
  const owner = await person();
  const { body } = await invite(owner.headers, "viewer");
  const page = await createVisitor(account).open(new URL(body.url));
  assert.match(page.text, /invites you to work in its account/);
  assert.match(page.text, /Role: viewer/);
});

test("a newcomer who accepts has an account of their own beside the membership", async () => {
  const [owner, address] = [await person(), `${crypto.randomUUID()}@example.org`];
  const { body } = await invite(owner.headers, "viewer");
  const visitor = createVisitor(account);
  const asked = await visitor.submit(await visitor.open(new URL(body.url)), {}, "sign-in");
  const second = await visitor.submit(asked, { address }, "address");
  await visitor.submit(second, { code: await codeTo(account, address) }, "code");
  const [row] = (await send("GET", "/api/account/members/", owner.headers)).body.items;
  const { url, finish } = await startSignIn(account, { scope, more: { account: owner.id } });
  const token = (await finish((await visitor.open(url)).url)).access_token;
  assert.deepEqual([claimsOf(token).account_id, claimsOf(token).sub], [owner.id, row.member_id]);
});

test("an authorization request chooses the account that its tokens act for", async () => {
  const { owner, member } = await joined("viewer");
  const { configuration, url, finish } = await startSignIn(account, { scope, more: { account: owner.id } });
  const first = await finish((await member.visitor.open(url)).url);
  assert.equal(claimsOf(first.access_token).account_id, owner.id);
  const next = await openid.refreshTokenGrant(configuration, first.refresh_token ?? "");
  assert.equal(claimsOf(next.access_token).account_id, owner.id, "a refresh stays with it");
});

test("a refresh switches back to the person's own account", async () => {
  const { member } = await joined("viewer");
  const { access_token } = await member.refresh({ account: member.id });
  assert.equal(claimsOf(access_token).account_id, member.id);
});

test("nobody gets a token for an account that they are no member of", async () => {
  const [owner, stranger] = [await person(), await person()];
  await assert.rejects(stranger.refresh({ account: owner.id }), { error: "invalid_grant" });
});

test("an application that asks for consent acts for the person's own account alone", async () => {
  const { owner, member } = await joined("owner");
  const redirect = "https://harbour.example/back";
  const foreign = { name: "Harbour", type: "browser", party: "third", redirect_uris: [redirect] };
  const wanted = { ...foreign, scopes: ["account:read"] };
  const admin = { "x-api-key": await account.firstKey() };
  const { id: client } = (await send("POST", "/api/v1/oauth/applications", admin, wanted)).body;
  const request = { client, redirect, scope: "openid offline_access account:read" };
  const { configuration, url, finish } = await startSignIn(account, request);
  const back = await member.visitor.submit(await member.visitor.open(url), {}, "allow");
  const { refresh_token = "" } = await finish(back.url);
  const switching = openid.refreshTokenGrant(configuration, refresh_token, { account: owner.id });
  await assert.rejects(switching, { error: "invalid_grant" });
});

for (const [role, status] of [
  ["viewer", 403],
  ["developer", 403],
  ["owner", 201],
] as const) {
  test(`a new API key by a member with the role ${role} is answered ${status}`, async () => {
    const { owner, acting } = await joined(role);
    const body = { name: "deploy", scopes: ["images:write"] };
    const made = await send("POST", "/api/account/api-keys/", acting, body);
    assert.equal(made.status, status);
    if (status !== 201) return;
    const keyOf = await account.principalOf({ "x-api-key": made.body.key });
    assert.equal(keyOf.accountId, owner.id);
  });
}

test("what an owner made stays with the account after their removal", async () => {
  const { owner, acting, row } = await joined("owner");
  const made = await send("POST", "/api/account/api-keys/", acting, { name: "deploy", scopes: ["images:write"] });
  await send("DELETE", `/api/account/members/${row.id}`, owner.headers);
  const { accountId } = await account.principalOf({ "x-api-key": made.body.key });
  assert.equal(accountId, owner.id);
});

const personal = [
  ["GET", "/api/account/passkeys/"],
  ["GET", "/api/account/identities/"],
  ["GET", "/api/account/sign-ins/"],
  ["DELETE", "/api/account/sign-ins/"],
  ["GET", "/api/account/export/"],
  ["POST", "/api/account/contact-change/resend"],
  ["DELETE", "/api/account/"],
] as const;

test("an owner by membership is refused whatever belongs to the account's own person", async () => {
  const { owner, acting } = await joined("owner");
  for (const [method, path] of personal) {
    const { status, body } = await send(method, path, acting);
    assert.deepEqual([path, status, body.error.details[0].code], [path, 403, "not_owner"]);
  }
  const moved = await send("PATCH", "/api/account/", acting, { contact_address: "thief@example.org" });
  assert.deepEqual([moved.status, moved.body.error.details[0].code], [403, "not_owner"]);
  assert.equal((await send("GET", "/api/account/", owner.headers)).body.contact_address, owner.address);
});

test("a removed member is refused at once", async () => {
  const { owner, member, acting, row } = await joined("developer");
  assert.equal((await send("DELETE", `/api/account/members/${row.id}`, owner.headers)).status, 204);
  assert.equal((await send("GET", "/api/account/", acting)).status, 401);
  await assert.rejects(member.refresh(), { error: "invalid_grant" });
  assert.equal((await send("GET", "/api/account/", member.headers)).status, 200, "the own account stays");
});

test("another role holds at once", async () => {
  const { owner, acting, row } = await joined("developer");
  const changed = await send("PATCH", `/api/account/members/${row.id}`, owner.headers, { role: "viewer" });
  assert.deepEqual([changed.status, changed.body.role], [200, "viewer"]);
  assert.equal((await send("PATCH", "/api/account/", acting, { display_name: "Ours" })).status, 403);
});

test("a member leaves by themselves", async () => {
  const { owner, member, acting, row } = await joined("viewer");
  assert.equal((await send("DELETE", `/api/account/memberships/${row.id}`, member.headers)).status, 204);
  assert.equal((await send("GET", "/api/account/", acting)).status, 401);
  assert.deepEqual((await send("GET", "/api/account/members/", owner.headers)).body.items, []);
});

test("nobody ends the membership of another account", async () => {
  const { row } = await joined("viewer");
  const stranger = await person();
  for (const path of [`/api/account/memberships/${row.id}`, `/api/account/members/${row.id}`]) {
    assert.equal((await send("DELETE", path, stranger.headers)).status, 404);
  }
});

test("a member whose own account is suspended acts for no other", async () => {
  const { member, acting } = await joined("owner");
  const admin = { "x-api-key": await account.firstKey() };
  const body = { status: "suspended", reason: "left the company" };
  assert.equal((await send("POST", `/api/accounts/${member.id}/status`, admin, body)).status, 200);
  assert.equal((await send("GET", "/api/account/", acting)).status, 401);
});

test("a developer invites nobody", async () => {
  const { acting } = await joined("developer");
  assert.equal((await invite(acting, "viewer")).status, 403);
});

test("an owner invites into no other account than the acting one", async () => {
  const [owner, other] = [await person(), await person()];
  const body = { account_id: other.id, role: "viewer" };
  const { status, body: refused } = await send("POST", "/api/v1/invitations/", owner.headers, body);
  assert.deepEqual([status, refused.error.details[0].field], [422, "account_id"]);
});

test("an owner sees the invitations of the own account alone", async () => {
  const [owner, other] = [await person(), await person()];
  const { body } = await invite(owner.headers, "viewer");
  const listed = (await send("GET", "/api/v1/invitations/?account_id=mine", owner.headers)).body.items;
  assert.deepEqual(
    listed.map(({ id }: { id: string }) => id),
    [body.id],
  );
  assert.equal((await send("DELETE", `/api/v1/invitations/${body.id}`, other.headers)).status, 403);
  assert.equal((await send("GET", "/api/v1/invitations/", owner.headers)).status, 403);
  assert.equal((await send("DELETE", `/api/v1/invitations/${body.id}`, owner.headers)).body.status, "revoked");
});

test("the invitation of an owner who was removed is accepted by nobody", async () => {
  const { owner, acting, row } = await joined("owner");
  const { body } = await invite(acting, "owner");
  await send("DELETE", `/api/account/members/${row.id}`, owner.headers);
  const page = await accept(await person(), body.url);
  assert.equal(page.status, 410);
});

test("the last owner of an account without a person stays", async () => {
  const admin = { "x-api-key": await account.firstKey() };
  const wanted = { display_name: "Works", key: { name: "first", scopes: scopesOfRole("owner") } };
  const works = { "x-api-key": (await send("POST", "/api/accounts/", admin, wanted)).body.api_key.key };
  const member = await person();
  await accept(member, (await invite(works, "owner")).body.url);
  const [row] = (await send("GET", "/api/account/members/", works)).body.items;
  const attempts = [
    await send("DELETE", `/api/account/members/${row.id}`, works),
    await send("PATCH", `/api/account/members/${row.id}`, works, { role: "viewer" }),
    await send("DELETE", `/api/account/memberships/${row.id}`, member.headers),
  ];
  assert.deepEqual(
    attempts.map(({ status, body }) => [status, body.error.details[0].code]),
    Array.from({ length: 3 }, () => [409, "last_owner"]),
  );
});

test("the audit of the account names the member who acted", async () => {
  const { owner, member, acting } = await joined("developer");
  await send("PATCH", "/api/account/", acting, { display_name: "Ours" });
  const { items } = (await send("GET", `/api/account/audit/?actor=${member.id}&action=account.update`, owner.headers))
    .body;
  assert.deepEqual([items[0].account_id, items[0].actor.account_id], [owner.id, member.id]);
});

test("a step-up code of a member goes to the person, not to the account", async () => {
  const { owner, member, acting } = await joined("owner");
  const mailsTo = (address: string) => account.mailbox.mails.filter(({ to }) => to === address);
  const before = [owner, member].map(({ address }) => mailsTo(address).length);
  assert.equal((await send("POST", "/api/account/step-up/", acting, {})).status, 202);
  const code = await eventually(() => {
    const mails = mailsTo(member.address).slice(before[1]);
    return mails.flatMap(({ text }) => /^ {4}(\d{8})$/m.exec(text)?.[1] ?? [])[0] ?? null;
  });
  assert.equal((await send("POST", "/api/account/step-up/", acting, { code })).status, 200);
  assert.equal(mailsTo(owner.address).length, before[0]);
  const path = "/api/account/audit/?action=account.step_up";
  assert.equal((await send("GET", path, member.headers)).body.items.length, 1, "it is in the person's own audit");
});

test("an account hears of its members by events", async () => {
  const { owner, row } = await joined("viewer");
  await send("PATCH", `/api/account/members/${row.id}`, owner.headers, { role: "developer" });
  await send("DELETE", `/api/account/members/${row.id}`, owner.headers);
  const events = await eventually(async () => {
    const own = (await account.eventsOf(owner.id, 1)).filter(({ name }) => name.startsWith("member."));
    return own.length >= 4 && own;
  });
  assert.deepEqual(
    events.map(({ name }) => name),
    ["member.invited", "member.joined", "member.role_changed", "member.left"],
  );
});
