import { apiKeyExample, serviceClientExample } from "@signalbox/contracts";
import {
  created,
  createRoutes,
  type HttpResponse,
  listPage,
  noContent,
  ok,
  pageOf,
  pageParameters,
  type Routes,
  refused,
  refusedWith,
} from "@signalbox/http";
import { z } from "zod";
import type { AccountStore } from "../accounts/account-store.ts";
import type { ApiKey } from "./api-key.ts";
import { type Credential, etagOfCredential } from "./credential.ts";
import {
  type CredentialApi,
  type CredentialApiDependencies,
  createCredentialApis,
  lockWithAccount,
} from "./credential-apis.ts";
import { CredentialPatch, Revocation, revocation } from "./credential-bodies.ts";
import type { Issued } from "./credentials.ts";

interface Dependencies extends CredentialApiDependencies {
  readonly accounts: Pick<AccountStore, "lock">;
  readonly pageLimits: { readonly maxPageSize: () => number; readonly pageSize: () => number };
}

const read = { scopes: ["account:read"], access: "own-account:read" } as const;
const security = { scopes: ["account:security"], stepUp: true } as const;

/** `/api/account/api-keys/` and `/api/account/clients/`: the credentials of the caller's account. */
export function credentialRoutes({ accounts, pageLimits, ...parts }: Dependencies): Routes {
  const routes = createRoutes({
    errors: "account",
    exampleIds: { key_id: apiKeyExample.id, client_id: serviceClientExample.id },
  });
  const { keyApi, clientApi } = createCredentialApis(parts);
  addRoutes(keyApi);
  addRoutes(clientApi);
  addCurrentKeyRoute(routes, keyApi);
  return routes;

  function addRoutes<C extends Credential>(api: CredentialApi<C>): void {
    readRoutes(routes, api, pageLimits);
    issueRoutes(routes, api, accounts);
    changeRoutes(routes, api);
  }
}

/** The common part of a kind's routes. */
function answersOf<C extends Credential>(api: CredentialApi<C>) {
  const { path, view } = api;
  const etag = (credential: C) => etagOfCredential(view(credential), credential);
  return {
    one: `${path}:${api.idParameter}`,
    idOf: (params: object) => (params as Record<string, string>)[api.idParameter] ?? "",
    etag,
    show: (credential: C) => ok(view(credential), { etag: etag(credential) }),
    /** The validator belongs to the representation of GET, so the next change can use it. */
    showIssued(issued: Issued<C>, makesAnother = true): HttpResponse {
      const shown = api.viewIssued(issued);
      const options = { etag: etag(issued.credential) };
      return makesAnother ? created(path + issued.credential.id, shown, options) : ok(shown, options);
    },
  };
}

function readRoutes<C extends Credential>(
  routes: Routes,
  api: CredentialApi<C>,
  pageLimits: Dependencies["pageLimits"],
): void {
  const { noun, operations, path, store, view, resource, texts } = api;
  const { one, idOf, show } = answersOf(api);

  routes.get(path, {
    operationId: operations.list,
    summary: `List the account's ${noun}s, newest first`,
    auth: read,
    query: z.object(pageParameters(pageLimits)),
    responses: { 200: pageOf(resource) },
    handle: ({ principal, query }) => listPage(query, (range) => store.list(principal.accountId, range), view),
  });

  routes.get(one, {
    operationId: operations.read,
    summary: `Read ${article(noun)}, ${texts.secretless}`,
    auth: read,
    responses: { 200: resource, 404: "error" },
    async handle({ principal, params }) {
      const credential = await store.find(principal.accountId, idOf(params));
      return credential ? show(credential) : refused(404, "not_found");
    },
  });
}

/** The routes that show a secret, once. */
function issueRoutes<C extends Credential>(
  routes: Routes,
  api: CredentialApi<C>,
  accounts: Dependencies["accounts"],
): void {
  const { operations, path, rotation } = api;
  const { one, idOf, etag, showIssued } = answersOf(api);

  routes.post(path, {
    operationId: operations.create,
    summary: `Create ${article(api.noun)}`,
    description: api.texts.issued,
    auth: security,
    audit: `${api.audited}.create`,
    body: api.newBody,
    responses: { 201: api.issuedResource, 404: "error", 409: "error", 422: "error" },
    idempotent: "sealed",
    write: {
      find: (tx, { principal }) => accounts.lock(tx, principal.accountId),
      change: (tx, account, { caller, body: { expires_at: expiresAt, ...wanted } }) =>
        api.create(tx, caller, account, { ...wanted, expiresAt }),
      answer: (result) => (result.outcome === "issued" ? showIssued(result) : refusedWith(api.refusedCreation(result))),
    },
  });

  routes.post(`${one}/${rotation.path}`, {
    operationId: operations.rotate,
    summary: rotation.summary,
    description: rotation.description,
    auth: security,
    audit: rotation.audit,
    body: api.rotationBody,
    responses: { [rotation.makesAnother ? 201 : 200]: api.issuedResource, 404: "error", 409: "error", 422: "error" },
    idempotent: "sealed",
    write: {
      find: (tx, { principal, params }) => lockWithAccount(tx, accounts, api, principal.accountId, idOf(params)),
      etag: ({ credential }) => etag(credential),
      change: (tx, { account, credential }, { caller, body }) =>
        api.rotate(tx, caller, account, credential, body.overlap_seconds),
      answer: (result) =>
        "credential" in result ? showIssued(result, rotation.makesAnother) : refusedWith(api.refusedRotation(result)),
    },
  });
}

function changeRoutes<C extends Credential>(routes: Routes, api: CredentialApi<C>): void {
  const { noun, operations, audited, store } = api;
  const { one, idOf, etag, show } = answersOf(api);

  routes.patch(one, {
    operationId: operations.rename,
    summary: `Rename ${article(noun)}`,
    description: "A new name needs a recent sign-in; the same name changes nothing.",
    auth: { scopes: ["account:security"], stepUpFor: "another name" },
    audit: `${audited}.update`,
    body: { json: CredentialPatch, mergePatch: true },
    responses: { 200: api.resource, 204: "empty", 404: "error", 409: "error" },
    idempotent: true,
    write: {
      find: (tx, { principal, params }) => store.lock(tx, principal.accountId, idOf(params)),
      etag,
      change: (tx, credential, { caller, body }) => api.rename(tx, caller, credential, body.name),
      answer: show,
    },
  });

  routes.delete(one, {
    operationId: operations.revoke,
    summary: `Revoke ${article(noun)}`,
    description: `${api.texts.revoked} If credentials that it created are still live, 200 returns their number.`,
    auth: security,
    audit: `${audited}.revoke`,
    query: z.object(revocation),
    responses: { 200: Revocation, 204: "empty", 404: "error", 409: "error" },
    idempotent: true,
    write: {
      find: (tx, { principal, params }) => store.lock(tx, principal.accountId, idOf(params)),
      etag,
      change: (tx, credential, { caller, query }) => api.revoke(tx, caller, credential, query.revoke_created),
      answer: ({ credential: { id }, createdLive }) =>
        createdLive === 0 ? noContent() : ok({ id, created_live: createdLive }),
    },
  });
}

function addCurrentKeyRoute(routes: Routes, { store, revoke }: CredentialApi<ApiKey>): void {
  routes.delete("/api/account/current-api-key/", {
    operationId: "revokeCurrentApiKey",
    summary: "Revoke the API key that this request came with",
    description: "For a leaked key. Needs no scope. Any other credential is 404.",
    // A key may always revoke itself: this only takes access away.
    auth: { scopes: [], access: "own-account:read" },
    audit: "api_key.revoke",
    responses: { 204: "empty", 404: "error" },
    write: {
      find: async (tx, { principal: { accountId, credential } }) =>
        credential.kind === "api-key" ? store.lock(tx, accountId, credential.id) : null,
      change: (tx, key, { caller }) => revoke(tx, caller, key),
      answer: () => noContent(),
    },
  });
}

const article = (noun: string): string => `${/^[aeiou]/i.test(noun) ? "an" : "a"} ${noun}`;
