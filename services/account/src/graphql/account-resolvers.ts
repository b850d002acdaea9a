import { type Principal, requireScopes, requireState } from "@signalbox/auth";
import type { AccessKind, Scope } from "@signalbox/contracts";
import { AppError } from "@signalbox/core";
import { mutationPayload, requirePrincipal, type SubgraphContext } from "@signalbox/graphql";
import { accountPatch } from "../accounts/account-body.ts";
import { changesFrom } from "../accounts/account-routes.ts";
import { callersBody } from "../accounts/callers-body.ts";
import { actorOf } from "../audit/actor.ts";
import type { Verbs } from "../verbs.ts";
import { parseOwnInput } from "./parse-input.ts";
import type { AccountLoaders } from "./subgraph.ts";

export type AccountContext = SubgraphContext<AccountLoaders>;

/** The caller, allowed by scope and by the state of their account. */
export function allowed(context: AccountContext, scope: Scope, access: AccessKind): Principal {
  const principal = requirePrincipal(context);
  requireState(principal, access);
  requireScopes(principal, [scope]);
  return principal;
}

/** The caller, who may look at the account: its owner, or an administrator. */
export function allowedToSee(context: AccountContext, accountId: string): Principal {
  const principal = requirePrincipal(context);
  if (accountId === principal.accountId) return allowed(context, "account:read", "own-account:read");
  return allowed(context, "account:admin", "read");
}

export function accountResolvers({ accounts, updateAccount, supportedLocales }: Verbs) {
  const patch = callersBody(accounts, (present) => accountPatch(supportedLocales, present));

  return {
    Query: {
      viewer: async (_parent: unknown, _given: unknown, context: AccountContext) => {
        const { accountId } = allowed(context, "account:read", "own-account:read");
        return (await context.loaders.account(accountId)) ?? missing();
      },
    },
    Mutation: {
      updateAccount: (_parent: unknown, { input }: { input: object }, context: AccountContext) => {
        const principal = allowed(context, "account:write", "own-account:write");
        return mutationPayload("account", async () => {
          const by = actorOf({ ...context, principal });
          const changes = changesFrom(await parseOwnInput(patch, principal, input));
          const result = await updateAccount({ principal, changes, by });
          return result.outcome === "not-found" ? missing() : result.account;
        });
      },
    },
    Account: {
      /** Another account reads as missing, unless the caller is an administrator. */
      __resolveReference: ({ id }: { id: string }, _given: unknown, context: AccountContext) => {
        const principal = requirePrincipal(context);
        if (id !== principal.accountId && !principal.scopes.has("account:admin")) {
          allowed(context, "account:read", "own-account:read");
          return null;
        }
        allowedToSee(context, id);
        return context.loaders.account(id);
      },
    },
  };
}

export function missing(): never {
  throw new AppError("not_found", "The account does not exist any more.");
}
