import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createOidcIssuer, type OidcIssuer } from "@signalbox/testing";
import type { Harness } from "./harness.ts";
import { issuer as builtIn, startIssuer } from "./oauth-fixture.ts";

let account: Harness;
let corp: OidcIssuer;

before(async () => {
  corp = await createOidcIssuer({ algorithm: "ES256" });
  const { issuer, audience } = corp;
  const trusted = [{ name: "corp", issuer, audience, "roles-claim": "roles" }];
  account = await startIssuer({ "auth.issuers": JSON.stringify(trusted) });
});
after(() => Promise.all([account.close(), corp.close()]));

/** Headers of a new person of the other issuer. */
function person(claims: Record<string, unknown> = {}) {
  const now = Math.floor(Date.now() / 1000);
  const token = corp.sign({ sub: crypto.randomUUID(), auth_time: now, iat: now, exp: now + 900, ...claims });
  return { authorization: `Bearer ${token}` };
}

const createKey = (headers: Record<string, string>, keyScopes: readonly string[]) =>
  account.send("POST", "/api/account/api-keys/", { headers, body: { name: "key", scopes: keyScopes } });

const scopesOf = async (key: string) => (await account.principalOf({ "x-api-key": key })).scopes;

test("the built-in issuer runs beside another one", async () => {
  const discovery = await account.send("GET", "/oauth/.well-known/openid-configuration");
  assert.deepEqual([discovery.status, discovery.body.issuer], [200, builtIn]);
});

test("the resource metadata lists the built-in issuer with the other ones", async () => {
  const { body } = await account.send("GET", "/.well-known/oauth-protected-resource");
  assert.deepEqual(body.authorization_servers, [builtIn, corp.issuer]);
});

test("the roles of another issuer's token hold beside the built-in issuer", async () => {
  const { roles, scopes } = await account.principalOf(person({ roles: ["admin"] }));
  assert.deepEqual([roles, scopes.has("account:admin")], [["admin"], true]);
});

test("a key keeps the scopes that a role of the other issuer brought", async () => {
  const { body } = await createKey(person({ roles: ["admin"] }), ["config:admin"]);
  assert.ok((await scopesOf(body.key)).has("config:admin"));
});

test("a login of another issuer frees no account from the roles that are granted here", async () => {
  const administrator = { "x-api-key": await account.firstKey() };
  const rest = {
    display_name: "Eve",
    role: "admin",
    key: { name: "first", scopes: ["config:admin", "account:security"] },
  };
  const made = await account.send("POST", "/api/accounts/", { headers: administrator, body: rest });
  const { id, api_key: first } = made.body;
  const demoted = await account.send("PATCH", `/api/accounts/${id}`, {
    headers: administrator,
    body: { roles: ["owner"] },
  });
  assert.equal(demoted.status, 200);
  const token = person({ roles: ["admin"] }).authorization.slice("Bearer ".length);
  const linked = await account.send("POST", "/api/account/identities/", {
    headers: { "x-api-key": first.key },
    body: { token },
  });
  assert.equal(linked.status, 201);
  assert.deepEqual([...(await scopesOf(first.key))], ["account:security"]);
});

test("roles of an account that another issuer created are changed there", async () => {
  const { accountId } = await account.principalOf(person());
  const headers = { "x-api-key": await account.firstKey() };
  const { status, body } = await account.send("PATCH", `/api/accounts/${accountId}`, {
    headers,
    body: { roles: ["viewer"] },
  });
  assert.deepEqual([status, body.error.details[0].code], [409, "roles_by_issuer"]);
});

test("a login of another issuer is a way in beside the built-in issuer", async () => {
  const headers = person();
  const { items } = (await account.send("GET", "/api/account/identities/", { headers })).body;
  const second = person().authorization.slice("Bearer ".length);
  await account.send("POST", "/api/account/identities/", { headers, body: { token: second } });
  const path = `/api/account/identities/${items[0].id}`;
  assert.equal((await account.send("DELETE", path, { headers })).status, 204);
});

test("the last login of an account without a verified address stays", async () => {
  const headers = person();
  const { items } = (await account.send("GET", "/api/account/identities/", { headers })).body;
  const { status, body } = await account.send("DELETE", `/api/account/identities/${items[0].id}`, { headers });
  assert.deepEqual([status, body.error.details[0].code], [409, "last_way_in"]);
});
