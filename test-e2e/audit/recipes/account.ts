import { randomBytes } from "node:crypto";
import { eventually } from "@signalbox/testing";
import type { Headers, Person } from "../world.ts";
import { type Attempt, fresh, graph, mutation, type Recipe, type Recipes, rest } from "./attempt.ts";

const whole = { display_name: "Eve", locale: "de", timezone: "UTC" };
const settings = { locale: "de", timezone: "UTC", notifications: { product_updates: true } };
export const named = { name: "deploy", scopes: ["account:read"] };

/** A write to an existing credential. */
export const credential = (
  what: "api-keys" | "clients",
  make: (person: Person, id: string, path: string) => Attempt,
): Recipe =>
  fresh(async (person, { send }) => {
    const { id } = (await send(person.headers, `/api/account/${what}/`, { body: named })).json;
    return make(person, id, `/api/account/${what}/${id}`);
  });

/** An administrator's write to a credential of another account. */
export const credentialOfOther = (
  what: "api-keys" | "clients",
  make: (administrator: Pick<Person, "headers">, accountId: string, id: string) => Attempt,
): Recipe =>
  fresh(async (person, { administrator, send }) => {
    const { id } = (await send(person.headers, `/api/account/${what}/`, { body: named })).json;
    return make({ headers: administrator }, person.id, id);
  });

/** A write to a pending contact address, with the mailed code. */
const pending = (make: (person: Person, mail: { code: string }) => Attempt): Recipe =>
  fresh(async (person, { send, mailTo }) => {
    const contact_address = `${randomBytes(8).toString("hex")}@example.org`;
    await send(person.headers, "/api/account/", { method: "PATCH", body: { contact_address } });
    return make(person, await mailTo(contact_address));
  });

/** The holder of the address in use objects to its change, by the link in the mail. */
const objection: Recipe = fresh(async (person, { send, mailTo }) => {
  const contact_address = `${randomBytes(8).toString("hex")}@example.org`;
  await send(person.headers, "/api/account/", { method: "PATCH", body: { contact_address } });
  return rest(person, "POST", (await mailTo(person.address)).link);
});

const changeStatus: Recipe = async ({ administrator, person }) => {
  const { id } = await person();
  const body = { status: "suspended", reason: "walked" };
  return rest({ headers: administrator }, "POST", `/api/accounts/${id}/status`, body);
};

/** Recipes of each audited write to an account and its credentials. */
export const accountRecipes: Recipes = {
  "PATCH /api/account/": fresh((person) => rest(person, "PATCH", "/api/account/", { display_name: "Eve" })),
  "PUT /api/account/": fresh((person) => {
    return rest(person, "PUT", "/api/account/", { ...whole, contact_address: person.address });
  }),
  "DELETE /api/account/": fresh((person) => rest(person, "DELETE", "/api/account/")),
  "PATCH /api/account/settings/": fresh((person) => rest(person, "PATCH", "/api/account/settings/", { locale: "de" })),
  "PUT /api/account/settings/": fresh((person) => rest(person, "PUT", "/api/account/settings/", settings)),
  "PATCH /api/settings/": fresh((person) => rest(person, "PATCH", "/api/settings/", { locale: "de" })),
  "PUT /api/settings/": fresh((person) => rest(person, "PUT", "/api/settings/", settings)),
  "POST /api/account/status/": fresh((person) => rest(person, "POST", "/api/account/status/", { status: "disabled" })),
  "POST /api/account/recovery/": fresh(async (person, { send, tryTo }) => {
    await send(person.headers, "/api/account/status/", { body: { status: "disabled" } });
    // Waits until the edge knows the new state, which it needs for its refusal.
    await eventually(async () => (await tryTo(person.headers, "/api/account/api-keys/", { body: {} })).status === 403);
    return rest(person, "POST", "/api/account/recovery/");
  }),
  "POST /api/account/contact-change/confirm": pending((person, { code }) =>
    rest(person, "POST", "/api/account/contact-change/confirm", { code }),
  ),
  "DELETE /api/account/contact-change/": pending((person) => rest(person, "DELETE", "/api/account/contact-change/")),
  "POST /api/account/contact-links/{token}": objection,
  "POST /api/account/step-up/": fresh(async (person, { send, mailTo }) => {
    await send(person.headers, "/api/account/step-up/", { body: {} });
    const { code } = await mailTo(person.address);
    return rest(person, "POST", "/api/account/step-up/", { code });
  }),
  "DELETE /api/account/sign-ins/": fresh((person) => rest(person, "DELETE", "/api/account/sign-ins/")),
  "POST /api/account/identities/": fresh((person, { freshToken }) =>
    rest(person, "POST", "/api/account/identities/", { token: freshToken() }),
  ),
  "DELETE /api/account/identities/{identity_id}": fresh(async (person, { send, freshToken }) => {
    const { id } = (await send(person.headers, "/api/account/identities/", { body: { token: freshToken() } })).json;
    return rest(person, "DELETE", `/api/account/identities/${id}`);
  }),
  "GET /api/account/export/": fresh((person) => rest(person, "GET", "/api/account/export/")),
  "POST /api/account/api-keys/": fresh((person) => rest(person, "POST", "/api/account/api-keys/", named)),
  "PATCH /api/account/api-keys/{key_id}": credential("api-keys", (person, _id, path) =>
    rest(person, "PATCH", path, { name: "other" }),
  ),
  "POST /api/account/api-keys/{key_id}/rotate": credential("api-keys", (person, _id, path) =>
    rest(person, "POST", `${path}/rotate`, {}),
  ),
  "DELETE /api/account/api-keys/{key_id}": credential("api-keys", (person, _id, path) => rest(person, "DELETE", path)),
  "DELETE /api/account/current-api-key/": fresh(async (person, { send }) => {
    const { key } = (await send(person.headers, "/api/account/api-keys/", { body: named })).json;
    return rest({ headers: { "x-api-key": key } }, "DELETE", "/api/account/current-api-key/");
  }),
  "POST /api/accounts/{account_id}/status": changeStatus,
  "DELETE /api/accounts/{account_id}/api-keys/{key_id}": credentialOfOther("api-keys", (administrator, account, id) =>
    rest(administrator, "DELETE", `/api/accounts/${account}/api-keys/${id}`),
  ),
  "Mutation.revokeAccountApiKey": credentialOfOther("api-keys", (administrator, accountId, id) =>
    graph(administrator, "revokeAccountApiKey", "RevokeAccountApiKeyInput", { accountId, id }),
  ),
  "DELETE /api/accounts/{account_id}/sign-ins/": fresh(({ id }, { administrator: headers }) =>
    rest({ headers }, "DELETE", `/api/accounts/${id}/sign-ins/`),
  ),
  "Mutation.signOutAccount": fresh(({ id }, { administrator: headers }) =>
    graph({ headers }, "signOutAccount", "SignOutAccountInput", { accountId: id }),
  ),
  "Mutation.updateAccount": fresh((person) =>
    graph(person, "updateAccount", "UpdateAccountInput", { displayName: "Eve" }),
  ),
  "Mutation.updateAccountSettings": fresh((person) =>
    graph(person, "updateAccountSettings", "UpdateAccountSettingsInput", { locale: "de" }),
  ),
  "Mutation.signOutEverywhere": fresh((person) => mutation(person, "signOutEverywhere")),
  "Mutation.setAccountStatus": async ({ administrator: headers, person }) => {
    const input = { accountId: (await person()).id, status: "suspended", reason: "walked" };
    return graph({ headers }, "setAccountStatus", "SetAccountStatusInput", input);
  },
  "Mutation.createApiKey": fresh((person) => graph(person, "createApiKey", "CreateApiKeyInput", named)),
  "Mutation.renameApiKey": credential("api-keys", (person, id) =>
    graph(person, "renameApiKey", "RenameApiKeyInput", { id, name: "other" }),
  ),
  "Mutation.rotateApiKey": credential("api-keys", (person, id) =>
    graph(person, "rotateApiKey", "RotateApiKeyInput", { id }),
  ),
  "Mutation.revokeApiKey": credential("api-keys", (person, id) =>
    graph(person, "revokeApiKey", "RevokeApiKeyInput", { id }),
  ),
  "Mutation.confirmContactAddress": pending((person, { code }) =>
    graph(person, "confirmContactAddress", "ConfirmContactAddressInput", { code }),
  ),
  "Mutation.cancelContactChange": pending((person) => mutation(person, "cancelContactChange")),
};

/** A read of a new account, by an administrator who has read nothing yet: a repetition within a minute has no entry. */
const reading =
  (make: (administrator: { readonly headers: Headers }, id: string) => Attempt): Recipe =>
  async ({ person, secondAdministrator, send }) => {
    const headers = secondAdministrator();
    await send(headers, "/api/account/");
    return make({ headers }, (await person()).id);
  };

const query = ({ headers: by }: { readonly headers: Headers }, text: string): Attempt => ({
  by,
  path: "/graphql",
  request: { body: { query: `{ ${text} }` } },
});

const readingList = (field: string): Recipe =>
  reading((by, id) => ({
    ...query(by, `account(id: "${id}") { ${field}(first: 1) { edges { node { id } } } }`),
    besides: ["account.read"],
  }));

/** Recipes of the reads by administrators that leave an entry. */
export const administrationRecipes: Recipes = {
  "GET /api/accounts/": reading((by) => rest(by, "GET", "/api/accounts/")),
  "GET /api/accounts/{account_id}": reading((by, id) => rest(by, "GET", `/api/accounts/${id}`)),
  "GET /api/accounts/audit/": reading((by) => rest(by, "GET", "/api/accounts/audit/")),
  "GET /api/accounts/{account_id}/audit/": reading((by, id) => rest(by, "GET", `/api/accounts/${id}/audit/`)),
  "GET /api/accounts/{account_id}/api-keys/": reading((by, id) => rest(by, "GET", `/api/accounts/${id}/api-keys/`)),
  "GET /api/accounts/{account_id}/clients/": reading((by, id) => rest(by, "GET", `/api/accounts/${id}/clients/`)),
  "GET /api/accounts/{account_id}/sign-ins/": reading((by, id) => rest(by, "GET", `/api/accounts/${id}/sign-ins/`)),
  "Query.account": reading((by, id) => query(by, `account(id: "${id}") { status }`)),
  "Account.auditLog": readingList("auditLog"),
  "Account.apiKeys": readingList("apiKeys"),
  "Account.serviceClients": readingList("serviceClients"),
  "Account.signIns": readingList("signIns"),
  "Query.accounts": reading((by) => query(by, "accounts(first: 1) { edges { node { id } } }")),
  "Query.accountsAuditLog": reading((by) => query(by, "accountsAuditLog(first: 1) { edges { node { id } } }")),
};
