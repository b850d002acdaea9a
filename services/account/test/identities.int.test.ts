import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createOidcIssuer, eventually, type OidcIssuer } from "@signalbox/testing";
import { startElsewhere } from "./elsewhere.ts";
import { type Harness, startAccount } from "./harness.ts";

type Headers = Record<string, string>;

const path = "/api/account/identities/";
let account: Harness;
let partner: OidcIssuer;
let administrator: Headers;
before(async () => {
  const corp = await createOidcIssuer();
  partner = await createOidcIssuer();
  const trusted = (name: string, { issuer, audience }: OidcIssuer) => ({ name, issuer, audience });
  account = await startAccount({
    "auth.issuers": JSON.stringify([trusted("corp", corp), trusted("partner", partner)]),
  });
  administrator = { "x-api-key": await account.firstKey() };
  signAs = (claims) => ({ authorization: `Bearer ${corp.sign(claims)}` });
  closeIssuers = () => Promise.all([corp.close(), partner.close()]);
});
after(async () => {
  await account.close();
  await closeIssuers();
});

let signAs: (claims: Record<string, unknown>) => Headers;
let closeIssuers: () => Promise<unknown>;

const now = () => Math.floor(Date.now() / 1000);
const person = (claims: Record<string, unknown> = {}): Headers =>
  signAs({ sub: crypto.randomUUID(), auth_time: now(), jti: crypto.randomUUID(), ...claims });
/** A token of a login at the other provider. */
const partnerToken = (sub: string, claims: Record<string, unknown> = {}) =>
  partner.sign({ sub, auth_time: now(), jti: crypto.randomUUID(), ...claims });
const asPartner = (sub: string): Headers => ({ authorization: `Bearer ${partnerToken(sub)}` });

const idOf = async (headers: Headers) => (await account.send("GET", "/api/account/", { headers })).body.id;
const list = async (headers: Headers) => (await account.send("GET", path, { headers })).body.items;
const link = (headers: Headers, token: string) => account.send("POST", path, { headers, body: { token } });
const unlink = (headers: Headers, id: string) => account.send("DELETE", `${path}${id}`, { headers });

test("a second login reaches the same account, and the list tells both apart", async () => {
  const [headers, sub] = [person(), crypto.randomUUID()];
  const id = await idOf(headers);
  const { status, body, headers: answered } = await link(headers, partnerToken(sub));
  assert.equal(status, 201);
  assert.equal(answered.get("location"), `${path}${body.id}`);
  assert.deepEqual((await account.send("GET", `${path}${body.id}`, { headers })).body, body);
  assert.deepEqual([body.issuer, body.subject_hint, body.current], ["partner", `${sub.slice(0, 4)}…`, false]);
  assert.equal(await idOf(asPartner(sub)), id);

  const [own, other] = await list(headers);
  assert.deepEqual([own.issuer, own.current, other.issuer, other.current], ["corp", true, "partner", false]);
  assert.deepEqual(
    (await list(asPartner(sub))).map(({ current }: { current: boolean }) => current),
    [false, true],
  );
  assert.ok(!JSON.stringify([own, other]).includes(sub));
});

test("linking again changes nothing and answers 200", async () => {
  const [headers, sub] = [person(), crypto.randomUUID()];
  const first = await link(headers, partnerToken(sub));
  const again = await link(headers, partnerToken(sub));
  assert.deepEqual([again.status, again.body], [200, first.body]);
  assert.equal((await list(headers)).length, 2);
});

test("a login that has an account stays there", async () => {
  const [headers, sub] = [person(), crypto.randomUUID()];
  const owner = await idOf(asPartner(sub));
  const { status, body } = await link(headers, partnerToken(sub));
  assert.deepEqual([status, body.error.code], [409, "conflict"]);
  assert.equal(await idOf(asPartner(sub)), owner);
});

test("two accounts that want one login at once: one gets it", async () => {
  const [one, two, sub] = [person(), person(), crypto.randomUUID()];
  await Promise.all([idOf(one), idOf(two)]);
  const answers = await Promise.all([one, two, one, two].map((headers) => link(headers, partnerToken(sub))));
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  const owner = await idOf(asPartner(sub));
  assert.ok([await idOf(one), await idOf(two)].includes(owner));
});

test("only a good token of a person proves a login, and none is kept or logged", async () => {
  const headers = person();
  const wrong = {
    expired: partner.wrong.expired({ sub: "x" }),
    foreign: partner.wrong.foreignKey({ sub: "x" }),
    text: "x",
  };
  for (const [what, token] of Object.entries(wrong)) {
    const { status, body } = await link(headers, token);
    assert.deepEqual(
      [status, body.error.details[0].field, body.error.details[0].code],
      [422, "token", "not_accepted"],
      what,
    );
  }
  const client = partnerToken("machine", { client_id: "machine" });
  const { status, body } = await link(headers, client);
  assert.deepEqual([status, body.error.details[0].code], [422, "no_login"]);
  for (const token of [...Object.values(wrong).slice(0, 2), client]) {
    assert.ok(!JSON.stringify(account.context.logged).includes(token));
  }
});

test("linking and unlinking need a recent sign-in", async () => {
  const [sub, other] = [crypto.randomUUID(), crypto.randomUUID()];
  const fresh = person({ sub });
  const { body } = await link(fresh, partnerToken(other));
  const stale = person({ sub, auth_time: now() - 3600 });
  for (const answer of [await link(stale, partnerToken(crypto.randomUUID())), await unlink(stale, body.id)]) {
    assert.deepEqual([answer.status, answer.body.error.details[0].code], [403, "step_up_required"]);
  }
});

test("a login that was taken off begins anew, in every service within two seconds", async () => {
  const elsewhere = await startElsewhere(account);
  const [headers, sub] = [person(), crypto.randomUUID()];
  const id = await idOf(headers);
  const { body } = await link(headers, partnerToken(sub));
  const other = asPartner(sub);
  assert.equal((await elsewhere.principalOf(other)).accountId, id);
  assert.equal((await unlink(headers, body.id)).status, 204);
  await eventually(async () => (await elsewhere.principalOf(other)).accountId !== id, { timeoutMs: 2000 });
  await eventually(async () => (await idOf(other)) !== id, { timeoutMs: 2000 });
  assert.equal(await idOf(headers), id);
  assert.equal((await unlink(headers, body.id)).status, 404);
  const audit = await account.send("GET", `/api/accounts/${id}/audit/`, { headers: administrator });
  const entries = audit.body.items.map(({ action, subject }: Record<string, unknown>) => [action, subject]);
  const expected = [
    ["identity.unlink", body.id],
    ["identity.link", body.id],
    ["account.create", null],
  ];
  assert.deepEqual(entries, expected);
  await elsewhere.close();
});

test("the last way in stays: a login until another one, or a key that manages the account, is there", async () => {
  const headers = person();
  const [only] = await list(headers);
  const refused = await unlink(headers, only.id);
  assert.deepEqual([refused.status, refused.body.error.details[0].code], [409, "last_way_in"]);
  assert.equal((await list(headers)).length, 1);
  const makeKey = async (scopes: string[]) =>
    (await account.send("POST", "/api/account/api-keys/", { headers, body: { name: "key", scopes } })).body;
  await makeKey(["account:write"]);
  assert.equal((await unlink(headers, only.id)).status, 409);
  const { key } = await makeKey(["account:read", "account:security"]);
  assert.equal((await unlink(headers, only.id)).status, 204);
  assert.deepEqual(await list({ "x-api-key": key }), []);
});

test("another account's login is missing", async () => {
  const [mine, theirs] = [person(), person()];
  const [identity] = await list(theirs);
  assert.equal((await account.send("GET", `${path}${identity.id}`, { headers: mine })).status, 404);
  assert.equal((await unlink(mine, identity.id)).status, 404);
  assert.equal((await list(theirs)).length, 1);
});

test("an account has twenty logins at most", async () => {
  const headers = person();
  for (let count = 1; count < 20; count++) {
    assert.equal((await link(headers, partnerToken(crypto.randomUUID()))).status, 201);
  }
  const { status, body } = await link(headers, partnerToken(crypto.randomUUID()));
  assert.deepEqual([status, body.error.code], [409, "conflict"]);
});
