import { accountExample, apiKeyExample, serviceClientExample } from "@signalbox/contracts";
import { createRoutes, listPage, noContent, ok, pageOf, pageParameters, type Routes, refused } from "@signalbox/http";
import { z } from "zod";
import type { AccountStore } from "../accounts/account-store.ts";
import { type Credential, etagOfCredential } from "../credentials/credential.ts";
import {
  type CredentialApi,
  type CredentialApiDependencies,
  createCredentialApis,
  lockWithAccount,
} from "../credentials/credential-apis.ts";
import { Revocation, revocation } from "../credentials/credential-bodies.ts";
import { SignInResource, signInExample, viewSignIn } from "../sign-ins/sign-in.ts";
import type { SignInList } from "../sign-ins/sign-in-list.ts";
import type { AccountAccess } from "./account-access.ts";

interface Dependencies extends CredentialApiDependencies {
  readonly accounts: Pick<AccountStore, "find" | "lock">;
  readonly accountAccess: AccountAccess;
  readonly signInList: Pick<SignInList, "list" | "lock">;
  readonly pageLimits: Parameters<typeof pageParameters>[0];
}

const account = "/api/accounts/:account_id";
const read = { scopes: ["account:admin"] } as const;
const end = { scopes: ["account:admin"], stepUp: true } as const;

/** `/api/accounts/{id}/api-keys/`, `…/clients/` and `…/sign-ins/`: administrators see and end the access to an account. */
export function accountAccessRoutes(dependencies: Dependencies): Routes {
  const routes = createRoutes({
    errors: "account",
    exampleIds: {
      account_id: accountExample.id,
      key_id: apiKeyExample.id,
      client_id: serviceClientExample.id,
      sign_in_id: signInExample.id,
    },
  });
  const { keyApi, clientApi } = createCredentialApis(dependencies);
  credentialRoutes(routes, keyApi, "api-keys", dependencies);
  credentialRoutes(routes, clientApi, "clients", dependencies);
  signInRoutes(routes, dependencies);
  return routes;
}

function credentialRoutes<C extends Credential>(
  routes: Routes,
  api: CredentialApi<C>,
  folder: string,
  { accounts, accountAccess, pageLimits }: Dependencies,
): void {
  const { noun, ofOthers, audited, store, view } = api;

  routes.get(`${account}/${folder}/`, {
    operationId: ofOthers.list,
    summary: `List the ${noun}s of an account, newest first`,
    auth: read,
    query: z.object(pageParameters(pageLimits)),
    responses: { 200: pageOf(api.resource), 404: "error" },
    async handle({ params, query }) {
      const found = await accounts.find(params.account_id);
      return found ? listPage(query, (range) => store.list(found.id, range), view) : refused(404, "not_found");
    },
  });

  routes.delete(`${account}/${folder}/:${api.idParameter}`, {
    operationId: ofOthers.revoke,
    summary: `Revoke a${noun.startsWith("A") ? "n" : ""} ${noun} of an account`,
    description: `${api.texts.revoked} The owner gets a notice. If credentials that it created are still live, 200 returns their number.`,
    auth: end,
    audit: `${audited}.revoke`,
    query: z.object(revocation),
    responses: { 200: Revocation, 204: "empty", 404: "error", 409: "error" },
    idempotent: true,
    write: {
      find: (tx, { params }) =>
        lockWithAccount(tx, accounts, api, idOf(params, "account_id"), idOf(params, api.idParameter)),
      etag: ({ credential }) => etagOfCredential(view(credential), credential),
      change: (tx, held, { caller, query }) => accountAccess.revoke(tx, caller, api, held, query.revoke_created),
      answer: ({ credential: { id }, createdLive }) =>
        createdLive === 0 ? noContent() : ok({ id, created_live: createdLive }),
    },
  });
}

/** The type knows no names, because the path is composed. */
const idOf = (params: object, name: string): string => (params as Readonly<Record<string, string>>)[name] ?? "";

function signInRoutes(routes: Routes, { accounts, accountAccess, signInList, pageLimits }: Dependencies): void {
  routes.get(`${account}/sign-ins/`, {
    operationId: "accountSignIns",
    summary: "List the sign-ins to an account at the built-in issuer, newest first",
    auth: read,
    query: z.object(pageParameters(pageLimits)),
    responses: { 200: pageOf(SignInResource), 404: "error" },
    async handle({ principal: { credential }, params, query }) {
      const found = await accounts.find(params.account_id);
      if (!found) return refused(404, "not_found");
      return listPage(query, (range) => signInList.list({ accountId: found.id, credential }, range), viewSignIn);
    },
  });

  routes.delete(`${account}/sign-ins/:sign_in_id`, {
    operationId: "endAccountSignIn",
    summary: "End a sign-in to an account",
    description:
      "Ends the session of the browser and the tokens of every application that it signed in to, in every service within two seconds. The owner gets a notice.",
    auth: end,
    audit: "sign_in.end",
    responses: { 204: "empty", 404: "error" },
    idempotent: true,
    write: {
      find: (tx, { params }) => signInList.lock(tx, params.account_id, params.sign_in_id),
      change: (tx, found, { caller }) => accountAccess.endSignIn(tx, caller, found),
      answer: () => noContent(),
    },
  });

  routes.delete(`${account}/sign-ins/`, {
    operationId: "signOutAccount",
    summary: "End every sign-in to an account",
    description:
      "As the owner's own sign-out everywhere: sign-ins at the built-in issuer with their tokens, step-ups, and tokens that another issuer issued until now. API keys and service clients stay. The owner gets a notice.",
    auth: end,
    audit: "account.sign_out",
    responses: { 204: "empty", 404: "error" },
    idempotent: true,
    write: {
      find: (tx, { params }) => accounts.lock(tx, params.account_id),
      change: (tx, found, { caller }) => accountAccess.signOut(tx, caller, found),
      answer: () => noContent(),
    },
  });
}
