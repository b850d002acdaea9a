import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AccountState, accountStates, type Scope, scopes } from "@signalbox/contracts";
import { type Harness, startAccount } from "./harness.ts";

let account: Harness;
let administrator: Record<string, string>;
before(async () => {
  account = await startAccount({ "account.require-verified-contact": true });
  administrator = { "x-api-key": await account.firstKey() };
});
after(() => account.close());

interface Operation {
  readonly scope: Scope;
  /** The status for a caller with that scope whose account is pending, active, suspended, disabled, deleted. */
  readonly inState: readonly [number, number, number, number, number];
  readonly body?: unknown;
}

const ownRead = (scope: Scope): Operation => ({ scope, inState: [200, 200, 200, 200, 403] });
const ownWrite = (body: unknown): Operation => ({ scope: "account:write", inState: [200, 200, 403, 403, 403], body });
const secure = (status: number, body?: unknown): Operation => ({
  scope: "account:security",
  inState: [403, status, 403, 403, 403],
  body,
});
const adminRead: Operation = { scope: "account:admin", inState: [200, 200, 200, 403, 403] };
const whole = { display_name: "Eve", locale: "en", timezone: "UTC" };
const settings = { locale: "de", timezone: "UTC", notifications: { product_updates: true } };

/** Who may do what, by CONTRACT §1 and §3. A route that is not here fails the first test. */
const operations: Readonly<Record<string, Operation>> = {
  "GET /api/account/": ownRead("account:read"),
  "PATCH /api/account/": ownWrite({ display_name: "Eve" }),
  "PUT /api/account/": ownWrite(whole),
  "DELETE /api/account/": { scope: "account:security", inState: [204, 204, 403, 403, 403] },
  "GET /api/account/settings/": ownRead("account:read"),
  "PATCH /api/account/settings/": ownWrite({ locale: "de" }),
  "PUT /api/account/settings/": ownWrite(settings),
  "GET /api/settings/": ownRead("account:read"),
  "PATCH /api/settings/": ownWrite({ locale: "de" }),
  "PUT /api/settings/": ownWrite(settings),
  "POST /api/account/status/": {
    scope: "account:security",
    inState: [409, 200, 403, 403, 403],
    body: { status: "disabled" },
  },
  "POST /api/account/recovery/": { scope: "account:write", inState: [403, 403, 403, 202, 403] },
  "GET /api/account/audit/": ownRead("account:read"),
  "POST /api/account/api-keys/": secure(201, { name: "key", scopes: ["account:security"] }),
  "GET /api/account/api-keys/": ownRead("account:read"),
  "GET /api/account/api-keys/{key_id}": ownRead("account:read"),
  "PATCH /api/account/api-keys/{key_id}": secure(200, { name: "other" }),
  "POST /api/account/api-keys/{key_id}/rotate": secure(201, {}),
  "DELETE /api/account/api-keys/{key_id}": secure(204),
  "GET /api/accounts/": adminRead,
  "GET /api/accounts/{account_id}": adminRead,
  "GET /api/accounts/{account_id}/audit/": adminRead,
  "POST /api/accounts/{account_id}/status": {
    scope: "account:admin",
    inState: [403, 200, 403, 403, 403],
    body: { status: "suspended", reason: "x" },
  },
};

/** Someone whose account is in `state`, and who holds an API key from before. */
async function personIn(state: AccountState) {
  const claims = { sub: crypto.randomUUID(), roles: ["admin"] };
  const contact = state === "pending" ? {} : { email: "ada@example.org", email_verified: true };
  const all = account.person({ ...claims, ...contact, scope: scopes.join(" ") });
  const { id } = (await account.send("GET", "/api/account/", { headers: all })).body;
  const body = { name: "before", scopes: ["account:security"] };
  const key = await account.send("POST", "/api/account/api-keys/", { headers: all, body });
  if (state !== "pending" && state !== "active") {
    const change = { status: state, reason: "x" };
    await account.send("POST", `/api/accounts/${id}/status`, { headers: administrator, body: change });
  }
  // Another token, which nobody remembers: the state it meets is the one in the database.
  return { id, keyId: key.body.id ?? "key_none", as: (scope: string) => account.person({ ...claims, scope }) };
}

async function attempt(operation: string, headers: Record<string, string>, ids: { keyId: string; accountId: string }) {
  const [method = "", template = ""] = operation.split(" ");
  const path = template.replace("{key_id}", ids.keyId).replace("{account_id}", ids.accountId);
  const body = operations[operation]?.body;
  return account.send(method, path, { headers, ...(body !== undefined && { body }) });
}

test("every route of the service is in this table", async () => {
  const { body } = await account.send("GET", "/openapi/account.json");
  const documented = Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => ["get", "put", "post", "patch", "delete"].includes(method))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
  const personal = documented.filter((operation) => operation !== "GET /openapi/account.json");
  assert.deepEqual(personal.sort(), Object.keys(operations).sort());
});

for (const [operation, { scope, inState }] of Object.entries(operations)) {
  test(`${operation} is for ${scope}, in the states that leave room for it`, async () => {
    const target = await personIn("active");
    const active = await personIn("active");
    const ids = { keyId: active.keyId, accountId: target.id };
    assert.equal((await attempt(operation, {}, ids)).status, 401, "anonymous");
    const others = scopes.filter((name) => name !== scope).join(" ");
    const lacking = await attempt(operation, active.as(others), ids);
    assert.deepEqual([lacking.status, lacking.body.error.details[0].code], [403, reasonFor(operation)], "wrong scope");

    for (const [at, state] of accountStates.entries()) {
      const person = await personIn(state);
      // A pending account has no key yet; any id will do where the state decides.
      const keyId = person.keyId === "key_none" ? active.keyId : person.keyId;
      const { status } = await attempt(operation, person.as(scope), { keyId, accountId: target.id });
      const expected = state === "pending" && operation.includes("{key_id}") && inState[at] === 200 ? 404 : inState[at];
      assert.equal(status, expected, state);
    }
  });
}

/** Where an active account has no business, the state is what the refusal names. */
const reasonFor = (operation: string): string =>
  operation === "POST /api/account/recovery/" ? "account_active" : "scope_required";

test("what belongs to another account is missing, for every method", async () => {
  const [own, other] = [await personIn("active"), await personIn("active")];
  for (const operation of Object.keys(operations).filter((name) => name.includes("{key_id}"))) {
    const scope = operations[operation]?.scope as string;
    const { status } = await attempt(operation, own.as(scope), { keyId: other.keyId, accountId: other.id });
    assert.equal(status, 404, operation);
  }
  const kept = await account.send("GET", `/api/account/api-keys/${other.keyId}`, { headers: other.as("account:read") });
  assert.equal(kept.body.status, "active");
});

const fields = {
  viewer: { scope: "account:read", inState: ownRead("account:read").inState, text: () => "{ viewer { id } }" },
  updateAccount: {
    scope: "account:write",
    inState: ownWrite(null).inState,
    text: () => `mutation { updateAccount(input: { displayName: "Eve" }) { errors { message } } }`,
  },
  setAccountStatus: {
    scope: "account:admin",
    inState: [403, 200, 403, 403, 403],
    text: (id: string) =>
      `mutation { setAccountStatus(input: { accountId: "${id}", status: suspended, reason: "x" }) { errors { message } } }`,
  },
} as const;

for (const [field, { scope, inState, text }] of Object.entries(fields)) {
  test(`the GraphQL field ${field} is for ${scope}, in the states that leave room for it`, async () => {
    const codeFor = async (headers: Record<string, string> | null, id: string) =>
      (await account.query(headers, text(id))).errors?.[0].extensions.code ?? "OK";
    const active = await personIn("active");
    assert.equal(await codeFor(null, active.id), "UNAUTHENTICATED");
    const others = scopes.filter((name) => name !== scope).join(" ");
    assert.equal(await codeFor(active.as(others), active.id), "FORBIDDEN");
    for (const [at, state] of accountStates.entries()) {
      const target = await personIn("active");
      const person = await personIn(state);
      const expected = inState[at] === 200 ? "OK" : "FORBIDDEN";
      assert.equal(await codeFor(person.as(scope), target.id), expected, state);
    }
  });
}
