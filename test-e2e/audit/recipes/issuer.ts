import { credential, named } from "./account.ts";
import {
  administrator,
  byAdministrator,
  type Prepare,
  type Prepared,
  type Recipes,
  recipesOf,
  someone,
} from "./attempt.ts";

/** A sign-in with a browser. */
const signIn: Prepare = async (world) => {
  const by = await world.signIn();
  const { id: account_id } = (await world.send(by, "/api/account/")).json;
  const [{ id }] = (await world.send(by, "/api/account/sign-ins/")).json.items;
  return { by, ids: { account_id, id, sign_in_id: id } };
};

/** A person who has joined the administrator's account, which ends the membership, or the person does if `leaves`. */
const membership =
  (leaves = false): Prepare =>
  async ({ administrator, send, join }) => {
    const invitation = { account_id: "mine", role: "viewer" };
    const member = await join((await send(administrator, "/api/v1/invitations/", { body: invitation })).json.url);
    const [{ id }] = (await send(administrator, "/api/account/members/")).json.items;
    return { by: leaves ? member : administrator, ids: { id, membership_id: id } };
  };

const newApplication = {
  name: "Harbour",
  type: "server",
  redirect_uris: ["https://harbour.example/back"],
  scopes: ["account:read"],
};

/** A new application of an administrator, whose secret was rotated if `rotated`. */
const application =
  (rotated = false): Prepare =>
  async ({ administrator: by, send }) => {
    const path = "/api/v1/oauth/applications";
    const { id } = (await send(by, path, { body: newApplication })).json;
    if (rotated) await send(by, `${path}/${id}/secret/rotate`, { body: {} });
    return { by, ids: { id, application_id: id } };
  };

const byId = ({ ids: { id } }: Prepared) => ({ id });
const byIds = ({ ids: { account_id: accountId, id } }: Prepared) => ({ accountId, id });

/** Recipes of the writes that need the built-in issuer: another issuer manages its own sign-ins, clients and roles. */
export const recipesOfIssuer: Recipes = {
  ...recipesOf(someone, {
    "POST /api/account/clients/": named,
    "Mutation.createServiceClient": named,
    "PATCH /api/accounts/{account_id}": { roles: ["admin", "operator"] },
    "Mutation.setAccountRoles": ({ ids }) => ({ accountId: ids.account_id, roles: ["admin"] }),
  }),
  ...recipesOf(credential("clients"), {
    "PATCH /api/account/clients/{client_id}": { name: "other" },
    "POST /api/account/clients/{client_id}/secret/rotate": {},
    "DELETE /api/account/clients/{client_id}": null,
    "Mutation.renameServiceClient": ({ ids: { id } }) => ({ id, name: "other" }),
    "Mutation.rotateServiceClientSecret": byId,
    "Mutation.revokeServiceClient": byId,
  }),
  ...recipesOf(credential("clients", true), {
    "DELETE /api/account/clients/{client_id}/secret/previous": null,
    "Mutation.deletePreviousServiceClientSecrets": byId,
  }),
  ...recipesOf(signIn, {
    "DELETE /api/account/sign-ins/{sign_in_id}": null,
    "Mutation.endSignIn": byId,
  }),
  ...recipesOf(byAdministrator(signIn), {
    "DELETE /api/accounts/{account_id}/sign-ins/{sign_in_id}": null,
    "Mutation.endAccountSignIn": byIds,
  }),
  ...recipesOf(byAdministrator(credential("clients")), {
    "DELETE /api/accounts/{account_id}/clients/{client_id}": null,
    "Mutation.revokeAccountServiceClient": byIds,
  }),
  ...recipesOf(membership(), {
    "PATCH /api/account/members/{membership_id}": { role: "developer" },
    "DELETE /api/account/members/{membership_id}": null,
    "Mutation.changeMemberRole": ({ ids: { id } }) => ({ id, role: "developer" }),
    "Mutation.removeMember": byId,
  }),
  ...recipesOf(membership(true), {
    "DELETE /api/account/memberships/{membership_id}": null,
    "Mutation.leaveAccount": byId,
  }),
  ...recipesOf(administrator, {
    "POST /api/v1/oauth/applications": newApplication,
    "Mutation.createOauthApplication": {
      name: "Harbour",
      type: "browser",
      redirectUris: newApplication.redirect_uris,
      scopes: [],
    },
  }),
  ...recipesOf(application(), {
    "PATCH /api/v1/oauth/applications/{application_id}": { name: "other" },
    "DELETE /api/v1/oauth/applications/{application_id}": null,
    "POST /api/v1/oauth/applications/{application_id}/secret/rotate": {},
    "Mutation.updateOauthApplication": ({ ids: { id } }) => ({ id, name: "other" }),
    "Mutation.deleteOauthApplication": byId,
    "Mutation.rotateOauthApplicationSecret": byId,
  }),
  ...recipesOf(application(true), {
    "DELETE /api/v1/oauth/applications/{application_id}/secret/previous": null,
    "Mutation.deletePreviousOauthApplicationSecrets": byId,
  }),
};
