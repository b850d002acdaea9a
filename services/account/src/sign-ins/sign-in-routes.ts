import { createRoutes, noContent, type Routes } from "@signalbox/http";
import type { AccountStore } from "../accounts/account-store.ts";
import type { SignIns } from "./sign-ins.ts";

interface Dependencies {
  readonly accounts: Pick<AccountStore, "lock">;
  readonly signIns: Pick<SignIns, "signOutEverywhere">;
}

/** The sign-ins of the account, as its owner ends them. */
export function signInRoutes({ accounts, signIns }: Dependencies): Routes {
  const routes = createRoutes({ errors: "account" });

  routes.delete("/api/account/sign-ins/", {
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
