import { createRoutes, noContent, refused } from "@signalbox/http";
import { actorOf } from "../audit/actor.ts";
import type { SignOutEverywhereVerb } from "./sign-out-everywhere.ts";

/** What an owner does about the sign-ins of the account. */
export function signInRoutes({ signOutEverywhere }: { readonly signOutEverywhere: SignOutEverywhereVerb }) {
  const routes = createRoutes({ errors: "account" });

  routes.delete("/api/account/sign-ins/", {
    summary: "Sign out everywhere",
    description:
      "Ends every sign-in of a person at the built-in issuer, with its tokens, within two seconds in every service, and all that codes have proven. API keys and service clients stay. Tokens of another issuer end there. Needs no recent sign-in.",
    auth: { scopes: ["account:security"], access: "own-account:write" },
    responses: { 204: "empty", 404: "error" },
    idempotent: true,
    async handle(input) {
      const result = await signOutEverywhere({
        principal: input.principal,
        by: actorOf(input),
        alongside: (tx) => input.idempotency.complete(tx, noContent()),
      });
      return result.outcome === "signed-out" ? noContent() : refused(404, "not_found");
    },
  });

  return routes;
}
