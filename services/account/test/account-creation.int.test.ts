import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { scopesOfRole } from "@signalbox/contracts";
import { type Harness, startAccount } from "./harness.ts";
import { startIssuer, tablesWith } from "./oauth-fixture.ts";

let account: Harness;
let admin: Record<string, string>;
before(async () => {
  account = await startIssuer();
  admin = { "x-api-key": await account.firstKey() };
});
after(() => account.close());

const path = "/api/accounts/";
const key = { name: "first", scopes: ["account:read", "images:read"] };
const fresh = () => `customer-${crypto.randomUUID()}`;
const make = (body: object = {}, headers = admin) =>
  account.send("POST", path, { headers, body: { display_name: "Customer", key, ...body } });
const patch = (id: string, body: object) => account.send("PATCH", `${path}${id}`, { headers: admin, body });

test("the first key of an account for a customer acts for it", async () => {
  const external_id = fresh();
  const { status, headers, body } = await make({ external_id, metadata: { plan: "pro" }, locale: "de" });
  assert.equal(status, 201);
  assert.equal(headers.get("location"), `${path}${body.id}`);
  assert.deepEqual(
    [body.status, body.roles, body.external_id, body.metadata],
    ["active", ["owner"], external_id, { plan: "pro" }],
  );
  const { key: secret, ...shown } = body.api_key;
  assert.deepEqual([shown.name, shown.scopes, shown.status], ["first", key.scopes, "active"]);
  const own = await account.send("GET", "/api/account/", { headers: { "x-api-key": secret } });
  assert.deepEqual([own.body.id, own.body.external_id, own.body.metadata], [body.id, external_id, undefined]);
  const identities = await account.send("GET", "/api/account/identities/", { headers: { "x-api-key": secret } });
  assert.deepEqual(identities.body.items, []);
  assert.deepEqual(await tablesWith(account, secret), []);
  // Events of two things have no order among them.
  const names = (await account.eventsOf(body.id, 2)).map(({ name }) => name).toSorted();
  assert.deepEqual(names, ["account.created", "api_key.created"]);
  const log = (await account.send("GET", `${path}${body.id}/audit/`, { headers: admin })).body.items;
  const made = log.filter(({ action }: { action: string }) => /create$/.test(action));
  assert.deepEqual(
    made.map((entry: { action: string }) => entry.action),
    ["api_key.create", "account.create"],
  );
  assert.deepEqual(
    made.map((entry: { actor: { kind: string } }) => entry.actor.kind),
    ["administrator", "administrator"],
  );
});

test("a repeated request shows the same API key", async () => {
  const headers = { ...admin, "idempotency-key": crypto.randomUUID() };
  const [one, two] = [await make({}, headers), await make({}, headers)];
  assert.deepEqual([one.status, two.status, two.body], [201, 201, one.body]);
});

test("an external id finds its one account", async () => {
  const external_id = fresh();
  const { id } = (await make({ external_id })).body;
  const taken = await make({ external_id });
  assert.deepEqual([taken.status, taken.body.error.details[0].code], [409, "external_id_taken"]);
  const other = (await make()).body;
  assert.equal((await patch(other.id, { external_id })).body.error.details[0].code, "external_id_taken");
  for (const query of [`external_id=${external_id}`, `search=${external_id.slice(9, 30)}`]) {
    const { items } = (await account.send("GET", `${path}?${query}`, { headers: admin })).body;
    assert.deepEqual(
      items.map((item: { id: string }) => item.id),
      [id],
    );
  }
  const races = await Promise.all([1, 2, 3].map(() => make({ external_id: `${external_id}-2` })));
  assert.deepEqual(races.map(({ status }) => status).sort(), [201, 409, 409]);
  assert.equal((await patch(id, { external_id: null })).body.external_id, null);
  assert.equal((await patch(other.id, { external_id })).body.external_id, external_id);
});

test("only administrators see metadata", async () => {
  const { id, api_key } = (await make({ metadata: { plan: "pro", region: "eu" } })).body;
  const changed = await patch(id, { metadata: { plan: null, tier: "gold" } });
  assert.deepEqual(changed.body.metadata, { region: "eu", tier: "gold" });
  const etag = changed.headers.get("etag");
  const same = await patch(id, { metadata: { tier: "gold" } });
  assert.equal(same.headers.get("etag"), etag);
  const many = Object.fromEntries([...Array(19).keys()].map((at) => [`t${at}`, "x"]));
  const refused = await patch(id, { metadata: many });
  assert.deepEqual([refused.status, refused.body.error.details[0].field], [422, "metadata"]);
  assert.equal((await make({ metadata: { ...many, a: "x", b: "y" } })).status, 422);
  const { data } = await account.query(
    { "x-api-key": api_key.key },
    "{ viewer { id externalId administration { metadata } } }",
  );
  assert.equal(data.viewer.administration, null);
  const asAdmin = await account.query(admin, `{ account(id: "${id}") { administration { metadata scopesMax } } }`);
  assert.deepEqual(asAdmin.data.account.administration, { metadata: { region: "eu", tier: "gold" }, scopesMax: null });
});

test("a bound of scopes holds for every credential", async () => {
  const { id, api_key } = (await make({ scopes_max: ["account:read", "images:read", "account:security"] })).body;
  const headers = { "x-api-key": api_key.key };
  const scopes = async () => (await account.send("GET", "/api/account/credential/", { headers })).body.scopes;
  assert.deepEqual(await scopes(), ["account:read", "images:read"]);
  const bounded = await patch(id, { scopes_max: ["images:read"] });
  assert.deepEqual([bounded.status, bounded.body.scopes_max], [200, ["images:read"]]);
  assert.deepEqual(await scopes(), ["images:read"]);
  await patch(id, { scopes_max: null });
  assert.deepEqual(await scopes(), ["account:read", "images:read"]);
});

test("nobody makes an account with more than they have, and bad input is named", async () => {
  const small = await account.send("POST", "/api/account/api-keys/", {
    headers: admin,
    body: { name: "people", scopes: ["account:admin", "account:security", "account:read"] },
  });
  assert.equal((await make({}, { "x-api-key": small.body.key })).status, 403);
  const cases: readonly (readonly [object, string, string])[] = [
    [{ display_name: " " }, "display_name", "invalid"],
    [{ external_id: "../x" }, "external_id", "invalid_format"],
    [{ metadata: { "no name": "x" } }, "metadata.no name", "invalid"],
    [{ key: { name: "x", scopes: ["account:admin"] } }, "key.scopes", "not_allowed"],
    [{ key: { ...key, expires_at: "2020-01-01T00:00:00Z" } }, "key.expires_at", "passed"],
    [{ roles: ["owner"] }, "roles", "read_only"],
  ];
  for (const [body, field, code] of cases) {
    const { status, body: answer } = await make(body);
    const [detail] = answer.error?.details ?? [];
    assert.deepEqual([status, detail?.field, detail?.code], [422, field, code], JSON.stringify(answer));
  }
});

test("the graph makes an account with its key", async () => {
  const externalId = fresh();
  const input = { displayName: "Service", externalId, metadata: { team_name: "a" }, key };
  const text = `mutation ($input: CreateAccountInput!) { createAccount(input: $input) {
    account { id externalId administration { roles metadata } } apiKey { name } key errors { field message } } }`;
  const { data } = await account.query(admin, text, { input });
  const { account: made, apiKey, key: secret, errors } = data.createAccount;
  assert.deepEqual([errors, apiKey.name, made.externalId], [[], "first", externalId]);
  assert.deepEqual(made.administration, { roles: ["owner"], metadata: { team_name: "a" } });
  assert.equal((await account.send("GET", "/api/account/", { headers: { "x-api-key": secret } })).body.id, made.id);
  const change = `mutation { setAccountRoles(input: { accountId: "${made.id}", roles: ["owner"], metadata: { b: "c" } }) {
    account { administration { metadata } } errors { message } } }`;
  const changed = (await account.query(admin, change)).data.setAccountRoles;
  assert.deepEqual(changed.account.administration.metadata, { team_name: "a", b: "c" });
});

test("with another identity provider an account's key has the owner's scopes", async () => {
  const elsewhere = await startAccount();
  try {
    const headers = { "x-api-key": await elsewhere.firstKey() };
    const send = (body: object) =>
      elsewhere.send("POST", path, { headers, body: { display_name: "Service", ...body } });
    const owner = { name: "all", scopes: scopesOfRole("owner") };
    assert.equal((await send({ role: "operator", key })).body.error.details[0].code, "roles_by_issuer");
    const made = await send({ key: owner });
    assert.equal(made.status, 201);
    const own = await elsewhere.send("GET", "/api/account/", { headers: { "x-api-key": made.body.api_key.key } });
    assert.equal(own.body.id, made.body.id);
  } finally {
    await elsewhere.close();
  }
});
