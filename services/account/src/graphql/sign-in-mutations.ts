import { mutationPayload } from "@signalbox/graphql";
import { actorOf } from "../audit/actor.ts";
import type { Verbs } from "../verbs.ts";
import { type AccountContext, allowed, missing } from "./account-resolvers.ts";

/** What an owner does about the sign-ins of the account. */
export function signInMutations({ signOutEverywhere }: Verbs) {
  return {
    Mutation: {
      signOutEverywhere: (_parent: unknown, _given: unknown, context: AccountContext) => {
        const principal = allowed(context, "account:security", "own-account:write");
        return mutationPayload("account", async () => {
          const result = await signOutEverywhere({ principal, by: actorOf({ ...context, principal }) });
          return result.outcome === "signed-out" ? result.account : missing();
        });
      },
    },
  };
}
