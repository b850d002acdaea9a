import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventOf, subscriptions } from "@signalbox/contracts";
import { codeIn, contactsOf, freshAddress, otherThan } from "./contact-parts.ts";
import { type Harness, startAccount } from "./harness.ts";

type SubscriptionEvent = Parameters<(typeof subscriptions)["accountChanged"]["payloadOf"]>[0];

let account: Harness;
let contacts: ReturnType<typeof contactsOf>;
before(async () => {
  account = await startAccount();
  contacts = contactsOf(account);
});
after(() => account.close());

type Headers = Record<string, string>;
const codeOf = ({ errors }: { errors?: { extensions: { code: string } }[] }) => errors?.[0]?.extensions.code;
const query: Harness["query"] = (headers, text, variables) => account.query(headers, text, variables);
const stale = () => Math.floor(account.context.clock.nowMs() / 1000) - 901;
const create = `mutation($input: CreateApiKeyInput!) {
  createApiKey(input: $input) { apiKey { id name scopes expiresAt replaces } key errors { field code message } } }`;
const newKey = async (person: Headers, input: object = {}) =>
  (await query(person, create, { input: { name: "deploy", scopes: ["account:read"], ...input } })).data.createApiKey;
const rotate = `mutation($input: RotateApiKeyInput!) {
  rotateApiKey(input: $input) { apiKey { id replaces } key errors { field code message } } }`;

test("a key is made, renamed, rotated and revoked in the graph; it is shown when it is made and never again", async () => {
  const person = account.person();
  const expiresAt = "2099-01-01T00:00:00.000Z";
  const made = await newKey(person, { expiresAt });
  assert.deepEqual([made.apiKey.name, made.apiKey.expiresAt, made.errors], ["deploy", expiresAt, []]);
  const withKey = { "x-api-key": made.key };
  assert.equal((await account.send("GET", "/api/account/", { headers: withKey })).status, 200);

  const rename =
    "mutation($input: RenameApiKeyInput!) { renameApiKey(input: $input) { apiKey { name } errors { field } } }";
  const renamed = await query(person, rename, { input: { id: made.apiKey.id, name: "other" } });
  assert.deepEqual(renamed.data.renameApiKey, { apiKey: { name: "other" }, errors: [] });
  const nameless = await query(person, rename, { input: { id: made.apiKey.id, name: "" } });
  assert.deepEqual(nameless.data.renameApiKey, { apiKey: null, errors: [{ field: "name" }] });

  const rotated = (await query(person, rotate, { input: { id: made.apiKey.id, overlapSeconds: 60 } })).data
    .rotateApiKey;
  assert.equal(rotated.apiKey.replaces, made.apiKey.id);
  assert.match(rotated.key, /^sbx_dev_/);
  assert.equal(codeOf(await query(person, rotate, { input: { id: made.apiKey.id } })), "CONFLICT");

  const revoke =
    "mutation($input: RevokeApiKeyInput!) { revokeApiKey(input: $input) { apiKey { status replacedBy } } }";
  const revoked = await query(person, revoke, { input: { id: made.apiKey.id } });
  assert.deepEqual(revoked.data.revokeApiKey.apiKey, { status: "revoked", replacedBy: rotated.apiKey.id });
});

test("what is wrong with a key is in the payload under the input's names, with the codes of REST", async () => {
  const person = account.person();
  const fieldsOf = ({ errors }: { errors: { field: string; code: string }[] }) =>
    errors.map(({ field, code }) => `${field} ${code}`);
  const wrong = { name: "", scopes: ["everything"] };
  assert.deepEqual(fieldsOf(await newKey(person, wrong)), ["name invalid", "scopes[0] invalid_value"]);
  assert.deepEqual(fieldsOf(await newKey(person, { expiresAt: "2020-01-01T00:00:00Z" })), ["expiresAt passed"]);
  assert.deepEqual(fieldsOf(await newKey(person, { scopes: ["account:admin"] })), ["scopes beyond_creator"]);
  const { apiKey } = await newKey(person);
  const long = await query(person, rotate, { input: { id: apiKey.id, overlapSeconds: 604_801 } });
  assert.deepEqual(fieldsOf(long.data.rotateApiKey), ["overlapSeconds too_big"]);
});

test("keys in the graph need a recent sign-in, as they do over REST", async () => {
  const sub = crypto.randomUUID();
  const { apiKey } = await newKey(account.person({ sub }));
  const later = account.person({ sub, auth_time: stale() });
  const input = (more: string) => `(input: { id: "${apiKey.id}" ${more} })`;
  for (const text of [
    `mutation { createApiKey(input: { name: "x", scopes: ["account:read"] }) { key } }`,
    `mutation { renameApiKey${input(', name: "y"')} { apiKey { id } } }`,
    `mutation { rotateApiKey${input("")} { key } }`,
    `mutation { revokeApiKey${input("")} { apiKey { id } } }`,
  ]) {
    const refused = await query(later, text);
    assert.equal(refused.errors[0].extensions.details[0].code, "step_up_required", text);
  }
  const same = await query(later, `mutation { renameApiKey${input(', name: "deploy"')} { apiKey { name } } }`);
  assert.equal(same.data.renameApiKey.apiKey.name, "deploy");
});

const fields = "account { contactAddress contactAddressVerified pendingContactAddress } errors { field message }";
const change = (headers: Headers, contactAddress: string) =>
  account.query(headers, `mutation ($input: UpdateAccountInput!) { updateAccount(input: $input) { ${fields} } }`, {
    input: { contactAddress },
  });
const confirm = (headers: Headers, code: string) =>
  account.query(
    headers,
    `mutation ($input: ConfirmContactAddressInput!) { confirmContactAddress(input: $input) { ${fields} } }`,
    { input: { code } },
  );
const resend = (headers: Headers) =>
  account.query(headers, "mutation { resendContactCode { sentCode { sentTo expiresAt } errors { field message } } }");
const cancel = (headers: Headers) => account.query(headers, `mutation { cancelContactChange { ${fields} } }`);

test("an address changed through the graph is asked to confirm, and confirms there", async () => {
  const [old, wanted] = [freshAddress(), freshAddress()];
  const { headers } = await contacts.personWith(old);
  const changed = (await change(headers, wanted)).data.updateAccount;
  assert.equal(changed.account.pendingContactAddress, wanted);
  await account.mailbox.mailTo(old);
  const code = codeIn(await account.mailbox.mailTo(wanted));

  const wrong = (await confirm(headers, otherThan(code))).data.confirmContactAddress;
  assert.deepEqual(wrong, { account: null, errors: [{ field: "code", message: "The code is wrong." }] });
  const { account: confirmed, errors } = (await confirm(headers, code)).data.confirmContactAddress;
  assert.deepEqual(errors, []);
  assert.deepEqual(confirmed, { contactAddress: wanted, contactAddressVerified: true, pendingContactAddress: null });
  assert.equal((await confirm(headers, code)).errors[0].extensions.code, "CONFLICT");
});

test("another code is sent five times an hour, and the change can be given up", async () => {
  const wanted = freshAddress();
  const { headers } = await contacts.personWith(freshAddress());
  await change(headers, wanted);
  const { sentCode } = (await resend(headers)).data.resendContactCode;
  assert.equal(sentCode.sentTo, "a…@example.org");
  await account.mailbox.mailTo(wanted, 2);
  for (let count = 0; count < 3; count++) await resend(headers);
  assert.equal((await resend(headers)).errors[0].extensions.code, "RATE_LIMITED");
  const { account: kept } = (await cancel(headers)).data.cancelContactChange;
  assert.equal(kept.pendingContactAddress, null);
  assert.equal((await resend(headers)).errors[0].extensions.code, "CONFLICT");
});

const { accountChanged } = subscriptions;
/** Resolves a record as the gateway does: this subgraph resolves the payload's reference for the subscriber. */
async function resolved(event: SubscriptionEvent, listener: Headers) {
  const payload = accountChanged.payloadOf(event);
  assert.ok(payload);
  const text = `query($of: [_Any!]!) { _entities(representations: $of) { ... on Account { id displayName contactAddress
    contactAddressVerified pendingContactAddress locale timezone status createdAt updatedAt
    settings { locale timezone notifications { productUpdates } updatedAt } } } }`;
  const { data } = await account.query(listener, text, { of: [payload.account] });
  return { account: data._entities[0], changed: payload.changed as string[] };
}

test("each change of an account resolves to the account as it is now, for its owner and nobody else", async () => {
  const headers = account.person({ name: "Ada" });
  const { id } = (await account.send("GET", "/api/account/", { headers })).body;
  const patch = (path: string, body: object) => account.send("PATCH", path, { headers, body });
  await patch("/api/account/", { display_name: "Eve" });
  await patch("/api/account/settings/", { notifications: { product_updates: true } });
  await account.send("POST", "/api/account/status/", { headers, body: { status: "disabled" } });

  const records = await account.eventsOf(id, 3, ...accountChanged.events);
  const verified = { ...eventOf("account.contact_verified").example, id };
  const events: SubscriptionEvent[] = [...records, { name: "account.contact_verified", data: verified }];
  assert.deepEqual(
    events.map(({ name }) => name),
    ["account.updated", "account.settings_updated", "account.status_changed", "account.contact_verified"],
  );
  const own = (await account.send("GET", "/api/account/", { headers })).body;
  for (const event of events) {
    const { account: seen, changed } = await resolved(event, headers);
    assert.deepEqual(
      [seen.id, seen.displayName, seen.status, seen.updatedAt, seen.settings.notifications.productUpdates],
      [id, "Eve", "disabled", own.updated_at, true],
    );
    assert.ok(!Object.values(seen).includes(undefined), event.name);
    assert.ok(changed.length > 0);
    assert.equal((await resolved(event, account.person())).account, null);
  }
});
