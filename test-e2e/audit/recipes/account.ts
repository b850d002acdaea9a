import { randomBytes } from "node:crypto";
import { eventually } from "@signalbox/testing";
import { administrator, byAdministrator, type Prepare, type Recipes, recipesOf, someone } from "./attempt.ts";

const settings = { locale: "de", timezone: "UTC", notifications: { product_updates: true } };
export const named = { name: "deploy", scopes: ["account:read"] };
const disabled = { status: "disabled" };
const suspended = { status: "suspended", reason: "walked" };

/** A person with a credential, whose secret was rotated if `rotated`. */
export const credential =
  (what: "api-keys" | "clients", rotated = false): Prepare =>
  async (world) => {
    const { by, ids } = await someone(world);
    const path = `/api/account/${what}/`;
    const { id, key } = (await world.send(by, path, { body: named })).json;
    if (rotated) await world.send(by, `${path}${id}/secret/rotate`, { body: {} });
    return { by, ids: { ...ids, id, key, key_id: id, client_id: id } };
  };

const apiKey = credential("api-keys");

/** The key itself. */
const withKey: Prepare = async (world) => {
  const { ids } = await apiKey(world);
  return { by: { "x-api-key": ids.key ?? "" }, ids };
};

/** A person with a pending contact address, the mailed code, and the link in the mail to the address in use. */
const pending =
  (mail: "code" | "token"): Prepare =>
  async (world) => {
    const { by, ids } = await someone(world);
    const contact_address = `${randomBytes(8).toString("hex")}@example.org`;
    await world.send(by, "/api/account/", { method: "PATCH", body: { contact_address } });
    const { code, link } = await world.mailTo(mail === "code" ? contact_address : (ids.address ?? ""));
    return { by, ids: { ...ids, code, token: link.split("/").at(-1) ?? "" } };
  };

const disabledPerson: Prepare = async (world) => {
  const prepared = await someone(world);
  await world.send(prepared.by, "/api/account/status/", { body: disabled });
  // Waits until the edge knows the new state, which it needs for its refusal.
  await eventually(async () => (await world.tryTo(prepared.by, "/api/account/api-keys/", { body: {} })).status === 403);
  return prepared;
};

const deletedPerson: Prepare = async (world) => {
  const prepared = await someone(world);
  await world.send(prepared.by, "/api/account/", { method: "DELETE" });
  return prepared;
};

const vouched = () => ({ contact_address: `${randomBytes(8).toString("hex")}@example.org`, reason: "walked" });

const steppingUp: Prepare = async (world) => {
  const { by, ids } = await someone(world);
  await world.send(by, "/api/account/step-up/", { body: {} });
  return { by, ids: { ...ids, code: (await world.mailTo(ids.address ?? "")).code } };
};

const linked: Prepare = async (world) => {
  const { by, ids } = await someone(world);
  const body = { token: world.freshToken() };
  return { by, ids: { ...ids, identity_id: (await world.send(by, "/api/account/identities/", { body })).json.id } };
};

/** Recipes of each audited write to an account and its credentials. */
export const accountRecipes: Recipes = {
  ...recipesOf(someone, {
    "PATCH /api/account/": { display_name: "Eve" },
    "PUT /api/account/": ({ ids }) => ({
      display_name: "Eve",
      locale: "de",
      timezone: "UTC",
      contact_address: ids.address,
    }),
    "DELETE /api/account/": null,
    "PATCH /api/account/settings/": { locale: "de" },
    "PUT /api/account/settings/": settings,
    "PATCH /api/settings/": { locale: "de" },
    "PUT /api/settings/": settings,
    "POST /api/account/status/": disabled,
    "DELETE /api/account/sign-ins/": null,
    "POST /api/account/identities/": (_, { freshToken }) => ({ token: freshToken() }),
    "GET /api/account/export/": null,
    "POST /api/account/recovery-codes/": null,
    "POST /api/account/api-keys/": named,
    "Mutation.updateAccount": { displayName: "Eve" },
    "Mutation.updateAccountSettings": { locale: "de" },
    "Mutation.signOutEverywhere": null,
    "Mutation.createRecoveryCodes": null,
    "Mutation.createApiKey": named,
  }),
  ...recipesOf(disabledPerson, { "POST /api/account/recovery/": null }),
  ...recipesOf(pending("code"), {
    "POST /api/account/contact-change/confirm": ({ ids: { code } }) => ({ code }),
    "DELETE /api/account/contact-change/": null,
    "Mutation.confirmContactAddress": ({ ids: { code } }) => ({ code }),
    "Mutation.cancelContactChange": null,
  }),
  ...recipesOf(pending("token"), { "POST /api/account/contact-links/{token}": null }),
  ...recipesOf(steppingUp, { "POST /api/account/step-up/": ({ ids: { code } }) => ({ code }) }),
  ...recipesOf(linked, { "DELETE /api/account/identities/{identity_id}": null }),
  ...recipesOf(apiKey, {
    "PATCH /api/account/api-keys/{key_id}": { name: "other" },
    "POST /api/account/api-keys/{key_id}/rotate": {},
    "DELETE /api/account/api-keys/{key_id}": null,
    "Mutation.renameApiKey": ({ ids: { id } }) => ({ id, name: "other" }),
    "Mutation.rotateApiKey": ({ ids: { id } }) => ({ id }),
    "Mutation.revokeApiKey": ({ ids: { id } }) => ({ id }),
  }),
  ...recipesOf(withKey, { "DELETE /api/account/current-api-key/": null }),
  ...recipesOf(byAdministrator(someone), {
    "POST /api/accounts/{account_id}/status": suspended,
    "DELETE /api/accounts/{account_id}/sign-ins/": null,
    "GET /api/accounts/{account_id}/export/": null,
    "POST /api/accounts/{account_id}/contact-address": vouched,
    "Mutation.setAccountContactAddress": ({ ids: { account_id: accountId } }) => {
      const { contact_address: contactAddress, reason } = vouched();
      return { accountId, contactAddress, reason };
    },
    "Mutation.signOutAccount": ({ ids }) => ({ accountId: ids.account_id }),
    "Mutation.setAccountStatus": ({ ids }) => ({ accountId: ids.account_id, ...suspended }),
  }),
  ...recipesOf(byAdministrator(deletedPerson), {
    "POST /api/accounts/{account_id}/purge": { reason: "walked" },
    "Mutation.purgeAccount": ({ ids }) => ({ accountId: ids.account_id, reason: "walked" }),
  }),
  ...recipesOf(byAdministrator(apiKey), {
    "DELETE /api/accounts/{account_id}/api-keys/{key_id}": null,
    "Mutation.revokeAccountApiKey": ({ ids: { account_id: accountId, id } }) => ({ accountId, id }),
  }),
};

/** A new account, and an administrator who has read nothing yet: a repetition within a minute has no entry. */
const reading: Prepare = async (world) => {
  const by = world.secondAdministrator();
  await world.send(by, "/api/account/");
  return { ...(await someone(world)), by };
};

const list = "(first: 1) { edges { node { id } } }";

/** Recipes of the reads by administrators that leave an entry. */
const readingRecipes: Recipes = recipesOf(reading, {
  "GET /api/accounts/": null,
  "GET /api/accounts/{account_id}": null,
  "GET /api/accounts/audit/": null,
  "GET /api/accounts/{account_id}/audit/": null,
  "GET /api/accounts/{account_id}/api-keys/": null,
  "GET /api/accounts/{account_id}/clients/": null,
  "GET /api/accounts/{account_id}/sign-ins/": null,
  "GET /api/accounts/{account_id}/passkeys/": null,
  "Query.account": "account(id: {account_id}) { status }",
  "Query.accounts": `accounts${list}`,
  "Query.accountsAuditLog": `accountsAuditLog${list}`,
  ...Object.fromEntries(
    ["auditLog", "apiKeys", "serviceClients", "signIns", "passkeys"].map((field) => [
      `Account.${field}`,
      `account(id: {account_id}) { ${field}${list} }`,
    ]),
  ),
});

const customer = { name: "first", scopes: ["account:read"] };
/** An address that nobody was invited by. */
const invited = () => ({ address: `${crypto.randomUUID()}@example.org` });

const invitation: Prepare = async ({ administrator: by, send }) => {
  const { id } = (await send(by, "/api/v1/invitations/", { body: invited() })).json;
  return { by, ids: { id, invitation_id: id } };
};

/** Recipes of what administrators do with accounts: their reads, and the writes that bring people in. */
export const administrationRecipes: Recipes = {
  ...readingRecipes,
  ...recipesOf(administrator, {
    "POST /api/accounts/": { display_name: "Customer", key: customer },
    "POST /api/accounts/import": { accounts: [{ contact_address: "imported@example.org" }] },
    "POST /api/v1/invitations/": invited,
    "Mutation.createAccount": { displayName: "Customer", key: customer },
    "Mutation.createInvitation": invited,
  }),
  ...recipesOf(invitation, {
    "POST /api/v1/invitations/{invitation_id}/resend": null,
    "DELETE /api/v1/invitations/{invitation_id}": null,
    "Mutation.resendInvitation": ({ ids: { id } }) => ({ id }),
    "Mutation.revokeInvitation": ({ ids: { id } }) => ({ id }),
  }),
};
