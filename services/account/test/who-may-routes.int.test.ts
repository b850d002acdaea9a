import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accountStates, type Scope, scopes } from "@signalbox/contracts";
import {
  adminRead,
  type Ids,
  none,
  type Operation,
  ownRead,
  ownWrite,
  type Person,
  startWhoMay,
  type WhoMay,
} from "./who-may.ts";

let whoMay: WhoMay;
/** Somebody whom nobody changes. */
let targetReader: Promise<Person>;
before(async () => {
  whoMay = await startWhoMay();
  targetReader = whoMay.personIn("active");
});
after(() => whoMay.account.close());

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
/** An administrator's; the ids are the administrator's own, which the other account does not have. */
const ending = (status: number): Operation => ({ scope: "account:admin", inState: [403, status, 403, 403, 403] });
const invited = { address: "invited@example.org", scopes_max: ["account:read"] };
const customer = { display_name: "Customer", key: { name: "first", scopes: ["account:read"] } };
const whole = { display_name: "Eve", locale: "en", timezone: "UTC" };
const settings = { locale: "de", timezone: "UTC", notifications: { product_updates: true } };

/** `any`: any credential, with any scopes. `none`: no credential, but something that the caller holds. */
type Anyone = "any" | "none";

/** The permissions of every route, by CONTRACT §1 and §3. A route that is missing here fails the first test. */
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
  "GET /api/account/sign-ins/": ownRead("account:read"),
  "DELETE /api/account/sign-ins/{sign_in_id}": { scope: "account:security", inState: [404, 404, 403, 403, 403] },
  "DELETE /api/account/sign-ins/": { scope: "account:security", inState: [204, 204, 403, 403, 403] },
  "GET /api/account/passkeys/": ownRead("account:read"),
  "PATCH /api/account/passkeys/{passkey_id}": { ...secure(404), body: { name: "x" } },
  "DELETE /api/account/passkeys/{passkey_id}": secure(404),
  "GET /api/account/recovery-codes/": ownRead("account:read"),
  "POST /api/account/recovery-codes/": secure(201),
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
  // These callers have no key.
  "DELETE /api/account/current-api-key/": { scope: "any", inState: [404, 404, 404, 404, 403] },
  "GET /api/account/credential/": { ...ownRead("account:read"), scope: "any" },
  "POST /api/account/clients/": secure(409, { name: "robot", scopes: ["account:security"] }),
  "GET /api/account/clients/": ownRead("account:read"),
  "GET /api/account/clients/{client_id}": ownRead("account:read"),
  "PATCH /api/account/clients/{client_id}": secure(200, { name: "other" }),
  "POST /api/account/clients/{client_id}/secret/rotate": secure(200, {}),
  "DELETE /api/account/clients/{client_id}/secret/previous": secure(204),
  "DELETE /api/account/clients/{client_id}": secure(204),
  "POST /api/v1/webhooks/portal-sessions": {
    scope: "webhooks:write",
    also: "webhooks:read",
    inState: [403, 201, 403, 403, 403],
    body: { endpoint_ids: ["whe_01kdzq5a7m2n4p6q8r0s1t3v5w"] },
  },
  "GET /api/v1/webhooks/portal-sessions": { scope: "webhooks:read", inState: [200, 200, 200, 403, 403] },
  // These callers have no portal session.
  "GET /api/v1/webhooks/portal-sessions/current": { scope: "webhooks:read", inState: [404, 404, 404, 403, 403] },
  "DELETE /api/v1/webhooks/portal-sessions/{session_id}": {
    scope: "webhooks:write",
    inState: [403, 404, 403, 403, 403],
  },
  "POST /api/v1/invitations/": { ...ending(201), also: "account:read", body: invited },
  "GET /api/v1/invitations/": adminRead,
  "GET /api/v1/invitations/{invitation_id}": { ...adminRead, inState: [404, 404, 404, 403, 403] },
  "POST /api/v1/invitations/{invitation_id}/resend": ending(404),
  "DELETE /api/v1/invitations/{invitation_id}": ending(404),
  "GET /api/account/members/": ownRead("account:read"),
  "PATCH /api/account/members/{membership_id}": secure(404, { role: "viewer" }),
  "DELETE /api/account/members/{membership_id}": secure(404),
  "GET /api/account/memberships/": ownRead("account:read"),
  "DELETE /api/account/memberships/{membership_id}": waiting(404),
  // This caller has none of the scopes of an owner.
  "POST /api/accounts/": { scope: "account:admin", inState: [403, 403, 403, 403, 403], body: customer },
  "POST /api/accounts/import": {
    scope: "account:admin",
    inState: [403, 403, 403, 403, 403],
    body: { accounts: [{}], dry_run: true },
  },
  "GET /api/v1/oauth/applications": adminRead,
  // Another issuer signs people in here.
  "POST /api/v1/oauth/applications": {
    scope: "account:admin",
    inState: [403, 409, 403, 403, 403],
    body: { name: "Harbour", type: "browser", redirect_uris: ["https://harbour.example/"], scopes: [] },
  },
  "GET /api/v1/oauth/applications/{application_id}": {
    scope: "account:admin",
    inState: [404, 404, 404, 403, 403],
  },
  "PATCH /api/v1/oauth/applications/{application_id}": { ...ending(404), body: { name: "x" } },
  "DELETE /api/v1/oauth/applications/{application_id}": ending(404),
  "POST /api/v1/oauth/applications/{application_id}/secret/rotate": { ...ending(404), body: {} },
  "DELETE /api/v1/oauth/applications/{application_id}/secret/previous": ending(404),
  "GET /api/accounts/": adminRead,
  "GET /api/accounts/audit/": adminRead,
  "GET /api/accounts/{account_id}": adminRead,
  "GET /api/accounts/{account_id}/audit/": adminRead,
  "GET /api/accounts/{account_id}/api-keys/": adminRead,
  "GET /api/accounts/{account_id}/clients/": adminRead,
  "GET /api/accounts/{account_id}/sign-ins/": adminRead,
  "GET /api/accounts/{account_id}/passkeys/": adminRead,
  "GET /api/accounts/{account_id}/export/": adminRead,
  "POST /api/accounts/{account_id}/passkeys/{passkey_id}/remove": { ...ending(404), body: { reason: "x" } },
  "POST /api/accounts/{account_id}/contact-address": {
    ...ending(200),
    body: { contact_address: "vouched@example.org", reason: "x" },
  },
  "POST /api/accounts/{account_id}/purge": { ...ending(409), body: { reason: "x" } },
  "DELETE /api/accounts/{account_id}/api-keys/{key_id}": ending(404),
  "DELETE /api/accounts/{account_id}/clients/{client_id}": ending(404),
  "DELETE /api/accounts/{account_id}/sign-ins/{sign_in_id}": ending(404),
  "DELETE /api/accounts/{account_id}/sign-ins/": ending(204),
  "PATCH /api/accounts/{account_id}": {
    scope: "account:admin",
    inState: [403, 200, 403, 403, 403],
    body: { roles: ["owner"] },
  },
  "POST /api/accounts/{account_id}/status": {
    scope: "account:admin",
    inState: [403, 200, 403, 403, 403],
    body: { status: "suspended", reason: "x" },
  },
};
async function attempt(operation: string, headers: Record<string, string>, ids: Ids) {
  const [method = "", template = ""] = operation.split(" ");
  const path = template
    .replace("{key_id}", ids.keyId)
    .replace("{client_id}", ids.clientId)
    .replace("{account_id}", ids.accountId)
    .replace("{token}", "sbx_link_x");
  const body = operations[operation]?.body;
  return whoMay.account.send(method, path, { headers, ...(body !== undefined && { body }) });
}

test("every route of the service is in this table", async () => {
  const { body } = await whoMay.account.send("GET", "/openapi/account.json");
  const documented = Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => ["get", "put", "post", "patch", "delete"].includes(method))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
  const personal = documented.filter((operation) => operation !== "GET /openapi/account.json");
  const inTable = Object.keys(operations).map((operation) => operation.replace(/\/$/, "")); // as documents write paths
  assert.deepEqual(personal.sort(), inTable.sort());
});

for (const [operation, { scope, also, inState }] of Object.entries(operations)) {
  test(`${operation} is for ${scope}, in the states that leave room for it`, async () => {
    const changes = (status = 200) => status < 400 && !operation.startsWith("GET ");
    const target = changes(Math.min(...inState)) ? await whoMay.personIn("active") : await targetReader;
    const active = await whoMay.readerIn("active");
    const ids = { ...active, accountId: target.accountId };
    assert.equal((await attempt(operation, {}, ids)).status, scope === "none" ? 404 : 401, "anonymous");
    const isScoped = scope !== "any" && scope !== "none";
    if (isScoped) {
      const others = scopes.filter((name) => name !== scope).join(" ");
      const { status, body } = await attempt(operation, active.as(others), ids);
      assert.deepEqual([status, body.error.details[0].code], [403, reasonFor(operation)], "wrong scope");
    }

    for (const [at, state] of accountStates.entries()) {
      const person = changes(inState[at]) ? await whoMay.personIn(state) : await whoMay.readerIn(state);
      // A pending account has no key and no client yet; any id will do when the state decides.
      const own = person.keyId === none ? active : person;
      const as = person.as(isScoped ? [scope, also].join(" ").trim() : "config:read");
      const { status } = await attempt(operation, as, { ...own, accountId: target.accountId });
      const expected = state === "pending" && ownId.test(operation) && inState[at] === 200 ? 404 : inState[at];
      assert.equal(status, expected, state);
    }
  });
}

/** Operations on one resource of the caller. */
const ownId = /\/api\/account\/.*\{(key|client)_id\}/;

/** The reason of a refusal: the state, for operations that an active account cannot use either. */
const reasonFor = (operation: string): string =>
  operation === "POST /api/account/recovery/" ? "account_active" : "scope_required";

test("what belongs to another account is missing, for every method", async () => {
  const [own, other] = [await whoMay.personIn("active"), await whoMay.personIn("active")];
  for (const operation of Object.keys(operations).filter((name) => ownId.test(name))) {
    const scope = operations[operation]?.scope as string;
    const { status } = await attempt(operation, own.as(scope), other);
    assert.equal(status, 404, operation);
  }
  for (const path of [`api-keys/${other.keyId}`, `clients/${other.clientId}`]) {
    const kept = await whoMay.account.send("GET", `/api/account/${path}`, { headers: other.as("account:read") });
    assert.equal(kept.body.status, "active");
  }
});
