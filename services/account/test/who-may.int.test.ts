import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AccountState, accountStates, type Scope, scopes } from "@signalbox/contracts";
import { resolversOf } from "../src/graphql/subgraph.ts";
import { type Harness, startAccount } from "./harness.ts";
import { openInside } from "./inside.ts";

let account: Harness;
let administrator: Record<string, string>;
before(async () => {
  account = await startAccount({ "account.require-verified-contact": true });
  administrator = { "x-api-key": await account.firstKey() };
});
after(() => account.close());

interface Operation<For = Scope> {
  readonly scope: For;
  /** Another scope that is needed besides. */
  readonly also?: Scope;
  /** The status for a caller with that scope whose account is pending, active, suspended, disabled, deleted. */
  readonly inState: readonly [number, number, number, number, number];
  readonly body?: unknown;
}

const ownRead = (scope: Scope): Operation => ({ scope, inState: [200, 200, 200, 200, 403] });
const ownWrite = (body: unknown): Operation => ({ scope: "account:write", inState: [200, 200, 403, 403, 403], body });
const waiting = (status: number, body?: unknown): Operation => ({
  scope: "account:write",
  inState: [status, status, 403, 403, 403],
  body,
});
const secure = (status: number, body?: unknown): Operation => ({
  scope: "account:security",
  inState: [403, status, 403, 403, 403],
  body,
});
const adminRead: Operation = { scope: "account:admin", inState: [200, 200, 200, 403, 403] };
const whole = { display_name: "Eve", locale: "en", timezone: "UTC" };
const settings = { locale: "de", timezone: "UTC", notifications: { product_updates: true } };

/** `any`: whoever is signed in, with whatever scopes. `none`: everyone, for what they hold in their hands. */
type Anyone = "any" | "none";

/** Who may do what, by CONTRACT §1 and §3. A route that is not here fails the first test. */
const operations: Readonly<Record<string, Operation<Scope | Anyone>>> = {
  "GET /api/account/": ownRead("account:read"),
  "PATCH /api/account/": ownWrite({ display_name: "Eve" }),
  "PUT /api/account/": ownWrite(whole),
  "DELETE /api/account/": { scope: "account:security", inState: [204, 204, 403, 204, 403] },
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
  "POST /api/account/contact-change/confirm": waiting(409, { code: "12345678" }),
  "POST /api/account/contact-change/resend": waiting(409),
  "DELETE /api/account/contact-change/": waiting(204),
  "GET /api/account/contact-links/{token}": { scope: "none", inState: [404, 404, 404, 404, 404] },
  "POST /api/account/contact-links/{token}": { scope: "none", inState: [404, 404, 404, 404, 404] },
  "POST /api/account/step-up/": { scope: "any", inState: [409, 202, 403, 403, 403], body: {} },
  "DELETE /api/account/sign-ins/": { scope: "account:security", inState: [204, 204, 403, 403, 403] },
  "GET /api/account/identities/": ownRead("account:read"),
  "POST /api/account/identities/": secure(422, { token: "x" }),
  "GET /api/account/identities/{identity_id}": { scope: "account:read", inState: [404, 404, 404, 404, 403] },
  "DELETE /api/account/identities/{identity_id}": secure(404),
  "GET /api/account/audit/": ownRead("account:read"),
  "GET /api/account/export/": { ...ownRead("account:security"), also: "account:read" },
  "POST /api/account/api-keys/": secure(201, { name: "key", scopes: ["account:security"] }),
  "GET /api/account/api-keys/": ownRead("account:read"),
  "GET /api/account/api-keys/{key_id}": ownRead("account:read"),
  "PATCH /api/account/api-keys/{key_id}": secure(200, { name: "other" }),
  "POST /api/account/api-keys/{key_id}/rotate": secure(201, {}),
  "DELETE /api/account/api-keys/{key_id}": secure(204),
  // Nobody here comes with a key.
  "DELETE /api/account/current-api-key/": { scope: "any", inState: [404, 404, 404, 404, 403] },
  "POST /api/account/clients/": secure(201, { name: "robot", scopes: ["account:security"] }),
  "GET /api/account/clients/": ownRead("account:read"),
  "GET /api/account/clients/{client_id}": ownRead("account:read"),
  "PATCH /api/account/clients/{client_id}": secure(200, { name: "other" }),
  "POST /api/account/clients/{client_id}/secret/rotate": secure(200, {}),
  "DELETE /api/account/clients/{client_id}": secure(204),
  "GET /api/accounts/": adminRead,
  "GET /api/accounts/{account_id}": adminRead,
  "GET /api/accounts/{account_id}/audit/": adminRead,
  "POST /api/accounts/{account_id}/status": {
    scope: "account:admin",
    inState: [403, 200, 403, 403, 403],
    body: { status: "suspended", reason: "x" },
  },
};

/** Someone whose account is in `state`, and who holds an API key and a service client from before. */
async function personIn(state: AccountState) {
  const claims = { sub: crypto.randomUUID(), roles: ["admin"] };
  const contact = state === "pending" ? {} : { email: "ada@example.org", email_verified: true };
  const all = account.person({ ...claims, ...contact, scope: scopes.join(" ") });
  const { id } = (await account.send("GET", "/api/account/", { headers: all })).body;
  const body = { name: "before", scopes: ["account:security"] };
  const key = await account.send("POST", "/api/account/api-keys/", { headers: all, body });
  const client = await account.send("POST", "/api/account/clients/", { headers: all, body });
  if (state !== "pending" && state !== "active") {
    const change = { status: state, reason: "x" };
    await account.send("POST", `/api/accounts/${id}/status`, { headers: administrator, body: change });
  }
  // Another token, which nobody remembers: the state it meets is the one in the database.
  return {
    accountId: id,
    keyId: key.body.id ?? none,
    clientId: client.body.id ?? none,
    as: (scope: string) => account.person({ ...claims, scope }),
  };
}

/** What an account that is pending has not. */
const none = "none";

interface Ids {
  readonly accountId: string;
  readonly keyId: string;
  readonly clientId: string;
}

async function attempt(operation: string, headers: Record<string, string>, ids: Ids) {
  const [method = "", template = ""] = operation.split(" ");
  const path = template
    .replace("{key_id}", ids.keyId)
    .replace("{client_id}", ids.clientId)
    .replace("{account_id}", ids.accountId)
    .replace("{token}", "sbx_link_x");
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

for (const [operation, { scope, also, inState }] of Object.entries(operations)) {
  test(`${operation} is for ${scope}, in the states that leave room for it`, async () => {
    const target = await personIn("active");
    const active = await personIn("active");
    const ids = { ...active, accountId: target.accountId };
    assert.equal((await attempt(operation, {}, ids)).status, scope === "none" ? 404 : 401, "anonymous");
    const isScoped = scope !== "any" && scope !== "none";
    if (isScoped) {
      const others = scopes.filter((name) => name !== scope).join(" ");
      const { status, body } = await attempt(operation, active.as(others), ids);
      assert.deepEqual([status, body.error.details[0].code], [403, reasonFor(operation)], "wrong scope");
    }

    for (const [at, state] of accountStates.entries()) {
      const person = await personIn(state);
      // A pending account has no key and no client yet; any id will do where the state decides.
      const own = person.keyId === none ? active : person;
      const as = person.as(isScoped ? [scope, also].join(" ").trim() : "config:read");
      const { status } = await attempt(operation, as, { ...own, accountId: target.accountId });
      const expected = state === "pending" && ownId.test(operation) && inState[at] === 200 ? 404 : inState[at];
      assert.equal(status, expected, state);
    }
  });
}

/** Operations on one thing of the caller's own. */
const ownId = /\{(key|client)_id\}/;

/** Where an active account has no business, the state is what the refusal names. */
const reasonFor = (operation: string): string =>
  operation === "POST /api/account/recovery/" ? "account_active" : "scope_required";

test("what belongs to another account is missing, for every method", async () => {
  const [own, other] = [await personIn("active"), await personIn("active")];
  for (const operation of Object.keys(operations).filter((name) => ownId.test(name))) {
    const scope = operations[operation]?.scope as string;
    const { status } = await attempt(operation, own.as(scope), other);
    assert.equal(status, 404, operation);
  }
  for (const path of [`api-keys/${other.keyId}`, `clients/${other.clientId}`]) {
    const kept = await account.send("GET", `/api/account/${path}`, { headers: other.as("account:read") });
    assert.equal(kept.body.status, "active");
  }
});

interface Field {
  readonly scope: Scope;
  readonly inState: Operation["inState"];
  readonly text: (ids: Ids) => string;
  /** Who is let in learns that there is nothing to do. */
  readonly nothingWaits?: true;
}

const adminWrite = [403, 200, 403, 403, 403] as const;
const securely = [403, 200, 403, 403, 403] as const;

/** Who may do what in the graph. A root field, field of `Account` or entity that is not here fails the test below. */
const fields: Readonly<Record<string, Field>> = {
  "Query.viewer": { ...ownRead("account:read"), text: () => "{ viewer { id } }" },
  "Query.account": { ...adminRead, text: ({ accountId }) => `{ account(id: "${accountId}") { id } }` },
  "Query.accounts": { ...adminRead, text: () => "{ accounts(first: 1) { edges { cursor } } }" },
  "Mutation.updateAccount": {
    ...ownWrite(null),
    text: () => `mutation { updateAccount(input: { displayName: "Eve" }) { errors { message } } }`,
  },
  "Mutation.updateAccountSettings": {
    ...ownWrite(null),
    text: () => `mutation { updateAccountSettings(input: { locale: "de" }) { errors { message } } }`,
  },
  "Mutation.createApiKey": {
    scope: "account:security",
    inState: securely,
    text: () => `mutation { createApiKey(input: { name: "x", scopes: ["account:security"] }) { key } }`,
  },
  "Mutation.renameApiKey": {
    scope: "account:security",
    inState: securely,
    text: ({ keyId }) => `mutation { renameApiKey(input: { id: "${keyId}", name: "y" }) { apiKey { id } } }`,
  },
  "Mutation.rotateApiKey": {
    scope: "account:security",
    inState: securely,
    text: ({ keyId }) => `mutation { rotateApiKey(input: { id: "${keyId}" }) { key } }`,
  },
  "Mutation.revokeApiKey": {
    scope: "account:security",
    inState: securely,
    text: ({ keyId }) => `mutation { revokeApiKey(input: { id: "${keyId}" }) { apiKey { id } } }`,
  },
  "Mutation.createServiceClient": {
    scope: "account:security",
    inState: securely,
    text: () => `mutation { createServiceClient(input: { name: "x", scopes: ["account:security"] }) { clientSecret } }`,
  },
  "Mutation.renameServiceClient": {
    scope: "account:security",
    inState: securely,
    text: ({ clientId }) =>
      `mutation { renameServiceClient(input: { id: "${clientId}", name: "y" }) { serviceClient { id } } }`,
  },
  "Mutation.rotateServiceClientSecret": {
    scope: "account:security",
    inState: securely,
    text: ({ clientId }) => `mutation { rotateServiceClientSecret(input: { id: "${clientId}" }) { clientSecret } }`,
  },
  "Mutation.revokeServiceClient": {
    scope: "account:security",
    inState: securely,
    text: ({ clientId }) => `mutation { revokeServiceClient(input: { id: "${clientId}" }) { serviceClient { id } } }`,
  },
  "Mutation.confirmContactAddress": {
    ...ownWrite(null),
    text: () => `mutation { confirmContactAddress(input: { code: "12345678" }) { errors { message } } }`,
    nothingWaits: true,
  },
  "Mutation.resendContactCode": {
    ...ownWrite(null),
    text: () => "mutation { resendContactCode { errors { message } } }",
    nothingWaits: true,
  },
  "Mutation.cancelContactChange": {
    ...ownWrite(null),
    text: () => "mutation { cancelContactChange { errors { message } } }",
  },
  "Mutation.signOutEverywhere": {
    ...ownWrite(null),
    scope: "account:security",
    text: () => "mutation { signOutEverywhere { errors { message } } }",
  },
  "Mutation.setAccountStatus": {
    scope: "account:admin",
    inState: adminWrite,
    text: ({ accountId }) =>
      `mutation { setAccountStatus(input: { accountId: "${accountId}", status: suspended, reason: "x" }) { errors { message } } }`,
  },
  "Account.settings": { ...ownRead("account:read"), text: ({ accountId }) => entity(accountId, "settings { locale }") },
  "Account.apiKeys": { ...ownRead("account:read"), text: () => "{ viewer { apiKeys { edges { cursor } } } }" },
  "Account.serviceClients": {
    ...ownRead("account:read"),
    text: () => "{ viewer { serviceClients { edges { cursor } } } }",
  },
  "Account.auditLog": { ...ownRead("account:read"), text: () => "{ viewer { auditLog { edges { cursor } } } }" },
  "Account.administration": {
    ...adminRead,
    text: ({ accountId }) => entity(accountId, "administration { purgedAt }"),
  },
  "Account.__resolveReference": {
    ...ownRead("account:read"),
    text: ({ accountId }) => entity(accountId, "displayName"),
  },
  "ApiKey.__resolveReference": {
    ...ownRead("account:read"),
    text: ({ keyId }) =>
      `{ _entities(representations: [{ __typename: "ApiKey", id: "${keyId}" }]) { ... on ApiKey { status } } }`,
  },
};

const entity = (id: string, selection: string): string =>
  `{ _entities(representations: [{ __typename: "Account", id: "${id}" }]) { ... on Account { ${selection} } } }`;

test("every root field of the graph, every field of an account that somebody resolves, and every entity is in this table", async () => {
  const type = "{ fields { name args { name } type { kind ofType { kind name } } } }";
  const text = `{ query: __type(name: "Query") ${type} mutation: __type(name: "Mutation") ${type} }`;
  const { data } = await account.query(administrator, text);
  const named = (prefix: string, { fields: found }: { fields: { name: string }[] }) =>
    found.map(({ name }) => `${prefix}.${name}`).filter((name) => !name.startsWith("Query._"));
  const roots = [...named("Query", data.query), ...named("Mutation", data.mutation)];
  const resolved = Object.entries(resolversOf(openInside(account).verbs))
    .flatMap(([type, table]) => Object.keys(table).map((name) => `${type}.${name}`))
    .filter((name) => name.startsWith("Account.") || name.endsWith(".__resolveReference"));
  assert.deepEqual([...roots, ...resolved].sort(), Object.keys(fields).sort());
});

for (const [field, { scope, inState, text, nothingWaits }] of Object.entries(fields)) {
  test(`the GraphQL field ${field} is for ${scope}, in the states that leave room for it`, async () => {
    const codeFor = async (headers: Record<string, string> | null, ids: Ids) =>
      (await account.query(headers, text(ids))).errors?.[0].extensions.code ?? "OK";
    const active = await personIn("active");
    const own = (person: typeof active, target: string) => ({
      ...person,
      accountId: /^(Query|Mutation)/.test(field) ? target : person.accountId,
    });
    assert.equal(await codeFor(null, own(active, active.accountId)), "UNAUTHENTICATED");
    const others = scopes.filter((name) => name !== scope).join(" ");
    assert.equal(await codeFor(active.as(others), own(active, active.accountId)), "FORBIDDEN");
    for (const [at, state] of accountStates.entries()) {
      const target = await personIn("active");
      const person = await personIn(state);
      // An administrator's field on an entity needs the account to be read first.
      const held = scope === "account:admin" ? `account:read ${scope}` : scope;
      const admitted = nothingWaits ? "CONFLICT" : "OK";
      const expected = inState[at] === 200 ? admitted : "FORBIDDEN";
      const code = await codeFor(person.as(held), own(person, target.accountId));
      const missing = state === "pending" && field.startsWith("Mutation.") && code === "NOT_FOUND" ? "FORBIDDEN" : code;
      assert.equal(missing, expected, state);
    }
  });
}

test("what belongs to another account is missing in the graph, for owners of every scope but an administrator's", async () => {
  const [own, other] = [await personIn("active"), await personIn("active")];
  const stranger = own.as(scopes.filter((name) => name !== "account:admin").join(" "));
  const mutations = ["renameApiKey", "rotateApiKey", "revokeApiKey"];
  const ofClients = ["renameServiceClient", "rotateServiceClientSecret", "revokeServiceClient"];
  for (const field of [...mutations, ...ofClients]) {
    const { errors } = await account.query(stranger, fields[`Mutation.${field}`]?.text(other) ?? "");
    assert.equal(errors?.[0].extensions.code, "NOT_FOUND", field);
  }
  const lists = ["apiKeys", "serviceClients", "auditLog"].map((name) => `${name} { edges { cursor } }`);
  for (const selection of ["settings { locale }", ...lists]) {
    const { data } = await account.query(stranger, entity(other.accountId, selection));
    assert.deepEqual(data._entities, [null], selection);
  }
  const { data } = await account.query(stranger, fields["ApiKey.__resolveReference"]?.text(other) ?? "");
  assert.deepEqual(data._entities, [null]);
  const kept = await account.send("GET", `/api/account/api-keys/${other.keyId}`, { headers: other.as("account:read") });
  assert.deepEqual([kept.body.status, kept.body.name], ["active", "before"]);
});
