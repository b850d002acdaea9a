import { createRoutes, listPage, noContent, pageOf, pageParameters, type Routes } from "@signalbox/http";
import { z } from "zod";
import type { AccountStore } from "../accounts/account-store.ts";
import { SignInResource, signInExample, viewSignIn } from "./sign-in.ts";
import type { SignInList } from "./sign-in-list.ts";
import type { SignIns } from "./sign-ins.ts";

interface Dependencies {
  readonly accounts: Pick<AccountStore, "lock">;
  readonly signIns: Pick<SignIns, "signOutEverywhere">;
  readonly signInList: SignInList;
  readonly pageLimits: Parameters<typeof pageParameters>[0];
}

const path = "/api/account/sign-ins/";

/** The account's sign-ins, which its owner lists and ends. */
export function signInRoutes({ accounts, signIns, signInList, pageLimits }: Dependencies): Routes {
  const routes = createRoutes({ errors: "account", exampleIds: { sign_in_id: signInExample.id } });

  routes.get(path, {
    operationId: "signIns",
    summary: "List the account's sign-ins at the built-in issuer, newest first",
    description: "Those of which anything is good: the browser's session, a refresh token or an access token.",
    auth: { scopes: ["account:read"], access: "own-account:read" },
    query: z.object(pageParameters(pageLimits)),
    responses: { 200: pageOf(SignInResource) },
    handle: ({ principal, query }) => listPage(query, (range) => signInList.list(principal, range), viewSignIn),
  });

  routes.delete(`${path}:sign_in_id`, {
    operationId: "endSignIn",
    summary: "End a sign-in",
    description:
      "Ends the session of the browser and the tokens of every application that it signed in to, in every service within two seconds. The caller's own sign-in can be ended too.",
    // Signing out everywhere stays possible at once; ending one sign-in would let a thief stay while the owner goes.
    auth: { scopes: ["account:security"], access: "own-account:write", stepUp: true },
    audit: "sign_in.end",
    responses: { 204: "empty", 404: "error" },
    idempotent: true,
    write: {
      find: (tx, { caller, params }) => signInList.lock(tx, caller.accountId, params.sign_in_id),
      change: (tx, found, { caller }) => signInList.end(tx, caller, found),
      answer: () => noContent(),
    },
  });

  routes.delete(path, {
    operationId: "signOutEverywhere",
    summary: "Sign out everywhere",
    description:
      "Ends every sign-in at the built-in issuer with its tokens, in every service within two seconds, and every step-up by code. Tokens of another issuer that were issued until now are refused from then on; sessions there end there. API keys and service clients stay. Needs no recent sign-in.",
    auth: { scopes: ["account:security"], access: "own-account:write" },
    audit: "account.sign_out",
    responses: { 204: "empty", 404: "error" },
    idempotent: true,
    write: {
      find: (tx, { caller }) => accounts.lock(tx, caller.accountId),
      change: (tx, account, { caller }) => signIns.signOutEverywhere(tx, caller, account),
      answer: () => noContent(),
    },
  });

  return routes;
}
