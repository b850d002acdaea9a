import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Harness, startAccount } from "./harness.ts";

let account: Harness;
before(async () => {
  account = await startAccount();
});
after(() => account.close());

const query: Harness["query"] = (headers, text, variables) => account.query(headers, text, variables);
const idOf = async (headers: Record<string, string>): Promise<string> =>
  (await account.send("GET", "/api/account/", { headers })).body.id;

const update = `mutation($input: UpdateAccountInput!) {
  updateAccount(input: $input) { account { displayName contactAddress pendingContactAddress } errors { field message } } }`;

test("the viewer is the caller's account with its settings and keys", async () => {
  const person = account.person({ name: "Ada", locale: "de" });
  const own = (await account.send("GET", "/api/account/", { headers: person })).body;
  const { data, errors } = await query(
    person,
    `{ viewer { id displayName status contactAddress createdAt settings { locale notifications { productUpdates } }
        apiKeys { edges { node { id } } pageInfo { hasNextPage endCursor } } } }`,
  );
  assert.equal(errors, undefined);
  assert.deepEqual(data.viewer, {
    id: own.id,
    displayName: "Ada",
    status: "active",
    contactAddress: null,
    createdAt: own.created_at,
    settings: { locale: "de", notifications: { productUpdates: false } },
    apiKeys: { edges: [], pageInfo: { hasNextPage: false, endCursor: null } },
  });
});

test("keys are a connection that is walked with first and after", async () => {
  const person = account.person();
  for (let count = 0; count < 3; count++) {
    const body = { name: `key ${count}`, scopes: ["account:read"] };
    await account.send("POST", "/api/account/api-keys/", { headers: person, body });
  }
  const page = `query($after: String) { viewer { apiKeys(first: 2, after: $after) {
    edges { node { name status } } pageInfo { hasNextPage endCursor } } } }`;
  const first = (await query(person, page)).data.viewer.apiKeys;
  const rest = (await query(person, page, { after: first.pageInfo.endCursor })).data.viewer.apiKeys;
  const names = [...first.edges, ...rest.edges].map(({ node }) => node.name).sort();
  assert.deepEqual(names, ["key 0", "key 1", "key 2"]);
  assert.deepEqual([first.pageInfo.hasNextPage, rest.pageInfo.hasNextPage], [true, false]);
  const tooMany = await query(person, "{ viewer { apiKeys(first: 101) { edges { cursor } } } }");
  assert.equal(tooMany.errors[0].extensions.code, "VALIDATION_FAILED");
});

test("updateAccount keeps absent members and clears with null", async () => {
  const person = account.person({ name: "Ada", email: "ada@example.org", email_verified: true });
  const renamed = await query(person, update, { input: { displayName: "Eve" } });
  assert.deepEqual(renamed.data.updateAccount, {
    account: { displayName: "Eve", contactAddress: "ada@example.org", pendingContactAddress: null },
    errors: [],
  });
  const cleared = await query(person, update, { input: { contactAddress: null } });
  assert.equal(cleared.data.updateAccount.account.contactAddress, null);
});

test("every failing member of updateAccount is in the payload under its own name, and nothing changes", async () => {
  const person = account.person({ name: "Ada" });
  const { data } = await query(person, update, { input: { displayName: "", locale: null, timezone: "Mars" } });
  assert.equal(data.updateAccount.account, null);
  const fields = data.updateAccount.errors.map(({ field }: { field: string }) => field).sort();
  assert.deepEqual(fields, ["displayName", "locale", "timezone"]);
  assert.equal((await account.send("GET", "/api/account/", { headers: person })).body.display_name, "Ada");
});

test("an entity is resolved for its owner, and another account reads as missing", async () => {
  const [own, other] = [account.person(), account.person()];
  const ids = await Promise.all([own, other].map(idOf));
  const { data } = await query(
    own,
    "query($of: [_Any!]!) { _entities(representations: $of) { ... on Account { id displayName } } }",
    { of: ids.map((id) => ({ __typename: "Account", id })) },
  );
  assert.equal(data._entities[0].id, ids[0]);
  assert.equal(data._entities[1], null);
});

const setStatus = `mutation($input: SetAccountStatusInput!) {
  setAccountStatus(input: $input) { account { id status } errors { field message } } }`;

test("setAccountStatus moves an account as REST does, and says what it refuses", async () => {
  const accountId = await idOf(account.person());
  const administrator = { "x-api-key": await account.firstKey() };
  const asAdministrator = (variables: object) => query(administrator, setStatus, variables);
  const moved = await asAdministrator({ input: { accountId, status: "suspended", reason: "spam" } });
  assert.deepEqual(moved.data.setAccountStatus, { account: { id: accountId, status: "suspended" }, errors: [] });
  const again = await asAdministrator({ input: { accountId, status: "suspended", reason: "spam" } });
  assert.equal(again.errors[0].extensions.code, "CONFLICT");
  const empty = await asAdministrator({ input: { accountId, status: "pending", reason: "" } });
  const fields = empty.data.setAccountStatus.errors.map(({ field }: { field: string }) => field).sort();
  assert.deepEqual(fields, ["reason", "status"]);
  const nobody = await asAdministrator({ input: { accountId: "acc_0", status: "active", reason: "x" } });
  assert.equal(nobody.errors[0].extensions.code, "NOT_FOUND");
});

test("updateAccountSettings keeps absent members, inside notifications too, and names what fails", async () => {
  const person = account.person({ locale: "de" });
  const text = `mutation($input: UpdateAccountSettingsInput!) { updateAccountSettings(input: $input) {
    settings { locale timezone notifications { productUpdates } } errors { field message } } }`;
  const change = async (input: object) => (await query(person, text, { input })).data.updateAccountSettings;
  const timed = { locale: "de", timezone: "Europe/Vienna", notifications: { productUpdates: false } };
  assert.deepEqual((await change({ timezone: "Europe/Vienna" })).settings, timed);
  const told = { ...timed, notifications: { productUpdates: true } };
  assert.deepEqual((await change({ notifications: { productUpdates: true } })).settings, told);
  assert.deepEqual((await change({ notifications: {} })).settings, told);
  const wrong = await change({ locale: "xx", timezone: "a\u0000", notifications: null });
  assert.equal(wrong.settings, null);
  const named = wrong.errors.map(({ field }: { field: string }) => field).sort();
  assert.deepEqual(named, ["locale", "notifications", "timezone"], "what cannot be kept hides nothing else");
  const failing = await change({ locale: "xx", notifications: { productUpdates: null } });
  const inside = failing.errors.map(({ field }: { field: string }) => field).sort();
  assert.deepEqual(inside, ["locale", "notifications.productUpdates"]);
});

test("any credential may ask who it is for; what it sees of the account is a matter of its scopes", async () => {
  const images = account.person({ scope: "images:read" });
  const { data, errors } = await account.query(images, "{ viewer { id contactAddress } }");
  assert.match(data.viewer.id, /^acc_/);
  assert.equal(data.viewer.contactAddress, null);
  assert.deepEqual([errors[0].path, errors[0].extensions.code], [["viewer", "contactAddress"], "FORBIDDEN"]);
  const entity = `{ _entities(representations: [{ __typename: "Account", id: "${data.viewer.id}" }]) { ... on Account { id } } }`;
  assert.deepEqual((await account.query(images, entity)).data._entities, [{ id: data.viewer.id }]);
});

test("administrators see the settings of another account as forbidden and not as empty", async () => {
  const { data: own } = await account.query(account.person(), "{ viewer { id } }");
  const key = { "x-api-key": await account.firstKey() };
  const { data, errors } = await account.query(key, `{ account(id: "${own.viewer.id}") { id settings { locale } } }`);
  assert.deepEqual(data.account, { id: own.viewer.id, settings: null });
  assert.deepEqual([errors[0].path, errors[0].extensions.code], [["account", "settings"], "FORBIDDEN"]);
});
