import type { Person } from "../world.ts";
import { credential, credentialOfOther, named } from "./account.ts";
import { type Attempt, fresh, graph, type Recipe, type Recipes, rest } from "./attempt.ts";

/** A write to a sign-in with a browser. */
const signIn =
  (make: (person: Pick<Person, "headers">, id: string) => Attempt): Recipe =>
  async (world) => {
    const headers = await world.signIn();
    const [{ id }] = (await world.send(headers, "/api/account/sign-ins/")).json.items;
    return make({ headers }, id);
  };

/** An administrator's write to a sign-in of another account. */
const signInOfOther =
  (make: (administrator: Pick<Person, "headers">, accountId: string, id: string) => Attempt): Recipe =>
  async (world) => {
    const headers = await world.signIn();
    const { id } = (await world.send(headers, "/api/account/")).json;
    const [signIn] = (await world.send(headers, "/api/account/sign-ins/")).json.items;
    return make({ headers: world.administrator }, id, signIn.id);
  };

/** A write to a client in the overlap of a rotation. */
const rotatedClient = (make: (person: Person, id: string, path: string) => Attempt): Recipe =>
  fresh(async (person, { send }) => {
    const { id } = (await send(person.headers, "/api/account/clients/", { body: named })).json;
    const path = `/api/account/clients/${id}`;
    await send(person.headers, `${path}/secret/rotate`, { body: {} });
    return make(person, id, path);
  });

const applicationsPath = "/api/v1/oauth/applications";
const newApplication = {
  name: "Harbour",
  type: "server",
  redirect_uris: ["https://harbour.example/back"],
  scopes: ["account:read"],
};

/** An administrator's write to a new application, after its secret was rotated if `rotated`. */
const application =
  (make: (administrator: Pick<Person, "headers">, id: string, path: string) => Attempt, rotated = false): Recipe =>
  async ({ administrator: headers, send }) => {
    const { id } = (await send(headers, `${applicationsPath}`, { body: newApplication })).json;
    const path = `${applicationsPath}/${id}`;
    if (rotated) await send(headers, `${path}/secret/rotate`, { body: {} });
    return make({ headers }, id, path);
  };

const operating = { roles: ["admin", "operator"] };

/** Recipes of the writes that need the built-in issuer: another issuer manages its own sign-ins, clients and roles. */
export const recipesOfIssuer: Recipes = {
  "POST /api/account/clients/": fresh((person) => rest(person, "POST", "/api/account/clients/", named)),
  "PATCH /api/account/clients/{client_id}": credential("clients", (person, _id, path) =>
    rest(person, "PATCH", path, { name: "other" }),
  ),
  "POST /api/account/clients/{client_id}/secret/rotate": credential("clients", (person, _id, path) =>
    rest(person, "POST", `${path}/secret/rotate`, {}),
  ),
  "DELETE /api/account/clients/{client_id}/secret/previous": rotatedClient((person, _id, path) =>
    rest(person, "DELETE", `${path}/secret/previous`),
  ),
  "DELETE /api/account/clients/{client_id}": credential("clients", (person, _id, path) => rest(person, "DELETE", path)),
  "Mutation.createServiceClient": fresh((person) =>
    graph(person, "createServiceClient", "CreateServiceClientInput", named),
  ),
  "Mutation.renameServiceClient": credential("clients", (person, id) =>
    graph(person, "renameServiceClient", "RenameServiceClientInput", { id, name: "other" }),
  ),
  "Mutation.rotateServiceClientSecret": credential("clients", (person, id) =>
    graph(person, "rotateServiceClientSecret", "RotateServiceClientSecretInput", { id }),
  ),
  "Mutation.deletePreviousServiceClientSecrets": rotatedClient((person, id) =>
    graph(person, "deletePreviousServiceClientSecrets", "DeletePreviousServiceClientSecretsInput", { id }),
  ),
  "Mutation.revokeServiceClient": credential("clients", (person, id) =>
    graph(person, "revokeServiceClient", "RevokeServiceClientInput", { id }),
  ),
  "DELETE /api/account/sign-ins/{sign_in_id}": signIn((person, id) =>
    rest(person, "DELETE", `/api/account/sign-ins/${id}`),
  ),
  "Mutation.endSignIn": signIn((person, id) => graph(person, "endSignIn", "EndSignInInput", { id })),
  "DELETE /api/accounts/{account_id}/sign-ins/{sign_in_id}": signInOfOther((administrator, account, id) =>
    rest(administrator, "DELETE", `/api/accounts/${account}/sign-ins/${id}`),
  ),
  "Mutation.endAccountSignIn": signInOfOther((administrator, accountId, id) =>
    graph(administrator, "endAccountSignIn", "EndAccountSignInInput", { accountId, id }),
  ),
  "DELETE /api/accounts/{account_id}/clients/{client_id}": credentialOfOther("clients", (administrator, account, id) =>
    rest(administrator, "DELETE", `/api/accounts/${account}/clients/${id}`),
  ),
  "Mutation.revokeAccountServiceClient": credentialOfOther("clients", (administrator, accountId, id) =>
    graph(administrator, "revokeAccountServiceClient", "RevokeAccountServiceClientInput", { accountId, id }),
  ),
  "POST /api/v1/oauth/applications": async ({ administrator: headers }) =>
    rest({ headers }, "POST", applicationsPath, newApplication),
  "PATCH /api/v1/oauth/applications/{application_id}": application((administrator, _id, path) =>
    rest(administrator, "PATCH", path, { name: "other" }),
  ),
  "DELETE /api/v1/oauth/applications/{application_id}": application((administrator, _id, path) =>
    rest(administrator, "DELETE", path),
  ),
  "POST /api/v1/oauth/applications/{application_id}/secret/rotate": application((administrator, _id, path) =>
    rest(administrator, "POST", `${path}/secret/rotate`, {}),
  ),
  "DELETE /api/v1/oauth/applications/{application_id}/secret/previous": application(
    (administrator, _id, path) => rest(administrator, "DELETE", `${path}/secret/previous`),
    true,
  ),
  "Mutation.createOauthApplication": async ({ administrator: headers }) =>
    graph({ headers }, "createOauthApplication", "CreateOauthApplicationInput", {
      name: "Harbour",
      type: "browser",
      redirectUris: ["https://harbour.example/back"],
      scopes: [],
    }),
  "Mutation.updateOauthApplication": application((administrator, id) =>
    graph(administrator, "updateOauthApplication", "UpdateOauthApplicationInput", { id, name: "other" }),
  ),
  "Mutation.deleteOauthApplication": application((administrator, id) =>
    graph(administrator, "deleteOauthApplication", "DeleteOauthApplicationInput", { id }),
  ),
  "Mutation.rotateOauthApplicationSecret": application((administrator, id) =>
    graph(administrator, "rotateOauthApplicationSecret", "RotateOauthApplicationSecretInput", { id }),
  ),
  "Mutation.deletePreviousOauthApplicationSecrets": application(
    (administrator, id) =>
      graph(administrator, "deletePreviousOauthApplicationSecrets", "DeletePreviousOauthApplicationSecretsInput", {
        id,
      }),
    true,
  ),
  "PATCH /api/accounts/{account_id}": fresh((person) => rest(person, "PATCH", `/api/accounts/${person.id}`, operating)),
  "Mutation.setAccountRoles": fresh((person) =>
    graph(person, "setAccountRoles", "SetAccountRolesInput", { accountId: person.id, roles: ["admin"] }),
  ),
};
