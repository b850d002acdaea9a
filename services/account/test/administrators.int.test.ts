import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { principalProtocol } from "@signalbox/auth";
import { type Scope, scopes } from "@signalbox/contracts";
import { eventually } from "@signalbox/testing";
import { type Harness, startAccount } from "./harness.ts";
import { bearer, startIssuer } from "./oauth-fixture.ts";
import { applications, signedIn } from "./oauth-visitor.ts";

type Headers = Record<string, string>;

let account: Harness;
/** The key of the first account, the only administrator between the tests. */
let first: Headers;
let firstId: string;

before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications });
  first = { "x-api-key": await account.firstKey() };
  firstId = await idOf(first);
});
after(() => account.close());

const idOf = async (headers: Headers): Promise<string> =>
  (await account.send("GET", "/api/account/", { headers })).body.id;
const setRoles = (headers: Headers, id: string, roles: readonly string[], more: Headers = {}) =>
  account.send("PATCH", `/api/accounts/${id}`, { headers: { ...headers, ...more }, body: { roles } });
const setStatus = (headers: Headers, id: string, status: string) =>
  account.send("POST", `/api/accounts/${id}/status`, { headers, body: { status, reason: "x" } });

/** Creates an account, makes it an administrator, signs it in again, and answers a key with all of its scopes. */
async function newAdministrator() {
  const { address, access_token, idClaims } = await signedIn(account, { scope: "openid account:read" });
  const id = String(idClaims?.sub);
  assert.equal((await setRoles(first, id, ["admin"])).status, 200);
  const again = await signedIn(account, { scope: `openid ${scopes.join(" ")}`, address });
  const headers = bearer(again.access_token);
  const body = { name: "all", scopes };
  const { key } = (await account.send("POST", "/api/account/api-keys/", { headers, body })).body;
  return { id, before: bearer(access_token), headers, key: { "x-api-key": String(key) } };
}

test("the only administrator is neither deleted, disabled, suspended nor stripped of the role, in REST and in the graph", async () => {
  const requests = [
    ["DELETE", "/api/account/", undefined],
    ["POST", "/api/account/status/", { status: "disabled" }],
    ["PATCH", `/api/accounts/${firstId}`, { roles: ["owner"] }],
    ...["disabled", "suspended", "deleted"].map(
      (status) => ["POST", `/api/accounts/${firstId}/status`, { status, reason: "x" }] as const,
    ),
  ] as const;
  for (const [method, path, body] of requests) {
    const answer = await account.send(method, path, { headers: first, body });
    const code = answer.body.error?.details[0].code;
    assert.deepEqual([answer.status, code], [409, "last_administrator"], `${method} ${path}`);
  }
  for (const text of [
    `mutation { setAccountRoles(input: { accountId: "${firstId}", roles: ["owner"] }) { account { id } } }`,
    `mutation { setAccountStatus(input: { accountId: "${firstId}", status: deleted, reason: "x" }) { account { id } } }`,
  ]) {
    const [error] = (await account.query(first, text)).errors;
    assert.deepEqual([error.extensions.code, error.extensions.details[0].code], ["CONFLICT", "last_administrator"]);
  }
  const { body } = await account.send("GET", `/api/accounts/${firstId}`, { headers: first });
  assert.deepEqual([body.status, body.roles], ["active", ["admin"]]);
});

test("other services learn which accounts are administrators", async () => {
  const { id } = await newAdministrator();
  const plain = String((await signedIn(account, { scope: "openid account:read" })).idClaims?.sub);
  const asked = { account_ids: [firstId, id, plain, "acc_nobody"] };
  const administrators = async () =>
    (await account.sendInternal(principalProtocol.administratorsPath, asked)).body.administrators;
  assert.deepEqual((await administrators()).toSorted(), [firstId, id].toSorted());
  assert.equal((await setRoles(first, id, ["owner"])).status, 200);
  assert.deepEqual(await administrators(), [firstId]);
});

test("of two administrators who strip, suspend or delete each other at once, one remains", async () => {
  const changes = {
    roles: (by: Headers, id: string) => setRoles(by, id, ["owner"]),
    suspended: (by: Headers, id: string) => setStatus(by, id, "suspended"),
    deleted: (by: Headers, id: string) => setStatus(by, id, "deleted"),
  };
  for (const [name, change] of Object.entries(changes)) {
    for (let round = 0; round < 4; round++) {
      const other = await newAdministrator();
      const answers = await Promise.all([change(first, other.id), change(other.key, firstId)]);
      const statuses = answers.map(({ status }) => status);
      assert.equal(statuses.filter((status) => status === 200).length, 1, `${name}: ${statuses}`);
      assert.ok(
        statuses.every((status) => [200, 403, 409].includes(status)),
        String(statuses),
      );
      // The remaining administrator restores the first account.
      const [remaining, removed] = statuses[0] === 200 ? [first, other.id] : [other.key, firstId];
      assert.equal((await setStatus(remaining, removed, "active")).status, name === "roles" ? 409 : 200);
      assert.equal((await setRoles(remaining, firstId, ["admin"])).status, 200);
      assert.equal((await setRoles(first, other.id, ["owner"])).status, 200);
    }
  }
});

test("an administrator may go once another is active", async () => {
  const other = await newAdministrator();
  await setStatus(first, other.id, "suspended");
  assert.equal((await setRoles(first, firstId, ["owner"])).status, 409);
  await setStatus(first, other.id, "active");
  assert.equal((await setRoles(first, firstId, ["owner"])).status, 200);
  assert.equal((await setRoles(other.key, firstId, ["admin"])).status, 200);
  assert.equal((await setRoles(first, other.id, ["owner"])).status, 200);
});

test("a role that was taken away is gone by the next request", async () => {
  const other = await newAdministrator();
  const list = (headers: Headers) => account.send("GET", "/api/accounts/?limit=1", { headers });
  assert.equal((await list(other.before)).status, 403, "a token from before");
  for (const headers of [other.headers, other.key]) assert.equal((await list(headers)).status, 200);
  assert.equal((await setRoles(first, other.id, ["owner"])).status, 200);
  for (const headers of [other.headers, other.key]) {
    assert.equal((await list(headers)).status, 403);
    assert.equal((await account.send("GET", "/api/account/", { headers })).status, 200, "the rest stays");
  }
});

test("grants and takings are in the audit of the account, each with who did it, and on the state topic", async () => {
  const { id } = await newAdministrator();
  await setRoles(first, id, ["owner", "operator"]);
  const read = await account.send("GET", `/api/accounts/${id}/audit/`, { headers: first });
  const told = read.body.items
    .filter(({ action }: { action: string }) => action.includes("role"))
    .map(({ action, fields, reason, actor }: Record<string, never>) => [action, fields, reason, actor]);
  const actor = told[0][3];
  assert.deepEqual([actor.kind, actor.account_id], ["administrator", firstId]);
  assert.deepEqual(told.map((entry: unknown[]) => entry.slice(0, 3)).sort(), [
    ["account.grant_role", ["roles"], "admin"],
    ["account.grant_role", ["roles"], "owner operator"],
    ["account.take_role", ["roles"], "admin"],
    ["account.take_role", ["roles"], "owner"],
  ]);
  await eventually(async () => {
    const events = (await account.eventsOf(id, 1)).filter(({ name }) => name === "access.changed");
    return events.length >= 2;
  });
});

test("other roles need a recent proof, every scope that they bring, and the roles that were read", async () => {
  const { id, headers } = await newAdministrator();
  const keyWith = async (...held: Scope[]): Promise<Headers> => {
    const body = { name: "some", scopes: held };
    return { "x-api-key": (await account.send("POST", "/api/account/api-keys/", { headers, body })).body.key };
  };
  const plain = await keyWith("account:admin");
  const unproven = await setRoles(plain, id, ["owner"]);
  assert.deepEqual([unproven.status, unproven.body.error.details[0].code], [403, "step_up_required"]);
  assert.equal((await setRoles(plain, id, ["admin"])).status, 200, "as they are");
  const beyond = await setRoles(await keyWith("account:admin", "account:security"), id, ["admin", "operator"]);
  assert.deepEqual([beyond.status, beyond.body.error.details[0].code], [403, "scope_required"]);

  const read = await account.send("GET", `/api/accounts/${id}`, { headers: first });
  const conditional = { "if-match": read.headers.get("etag") ?? "" };
  assert.equal((await setRoles(first, id, ["viewer", "admin"], conditional)).status, 200);
  assert.equal((await setRoles(first, id, ["owner"], conditional)).status, 409);
  for (const [roles, status] of [
    [[], 422],
    [["king"], 422],
    [null, 422],
    ["admin", 422],
  ] as const) {
    assert.equal((await setRoles(first, id, roles as never)).status, status, JSON.stringify(roles));
  }
  assert.equal((await setRoles(first, "acc_none", ["owner"])).status, 404);
  assert.equal((await setRoles(first, id, ["owner"])).status, 200);
});

test("the graph sets the roles of an account", async () => {
  const { id } = await newAdministrator();
  const text = `mutation($input: SetAccountRolesInput!) { setAccountRoles(input: $input) {
    account { administration { roles } } errors { field } } }`;
  const input = { accountId: id, roles: ["operator", "owner"] };
  const { account: changed } = (await account.query(first, text, { input })).data.setAccountRoles;
  assert.deepEqual(changed.administration.roles, ["owner", "operator"]);
  const { errors } = (await account.query(first, text, { input: { ...input, roles: ["king"] } })).data.setAccountRoles;
  assert.deepEqual(errors, [{ field: "roles[0]" }]);
});

test("where another issuer brings the roles, they cannot be granted here", async (t) => {
  const elsewhere = await startAccount();
  t.after(elsewhere.close);
  const administrator = { "x-api-key": await elsewhere.firstKey() };
  const person = elsewhere.person();
  const { id } = (await elsewhere.send("GET", "/api/account/", { headers: person })).body;
  const patch = { headers: administrator, body: { roles: ["admin"] } };
  const { status, body } = await elsewhere.send("PATCH", `/api/accounts/${id}`, patch);
  assert.deepEqual([status, body.error.details[0].code], [409, "roles_by_issuer"]);
  const asked = await elsewhere.sendInternal(principalProtocol.administratorsPath, { account_ids: [id] });
  assert.equal(asked.body.administrators, null, "nobody here knows");
});
