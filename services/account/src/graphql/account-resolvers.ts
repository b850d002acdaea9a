import { type Principal, requireScopes, requireState } from "@signalbox/auth";
import type { AccessKind, Scope } from "@signalbox/contracts";
import { AppError } from "@signalbox/core";
import { mutationPayload, requirePrincipal, type SubgraphContext } from "@signalbox/graphql";
import type { Account } from "../accounts/account.ts";
import { accountPatch } from "../accounts/account-body.ts";
import { changesFrom } from "../accounts/account-routes.ts";
import { actorOf } from "../audit/actor.ts";
import type { Verbs } from "../service.ts";
import { parseInput } from "./parse-input.ts";
import type { AccountLoaders } from "./subgraph.ts";

export type AccountContext = SubgraphContext<AccountLoaders>;

/** The caller, allowed by scope and by the state of their account. */
export function allowed(context: AccountContext, scope: Scope, access: AccessKind): Principal {
  const principal = requirePrincipal(context);
  requireState(principal, access);
  requireScopes(principal, [scope]);
  return principal;
}

/** Names of the input and of the REST body; failing fields go back under the input's. */
const inputNames = {
  displayName: "display_name",
  contactAddress: "contact_address",
  locale: "locale",
  timezone: "timezone",
} as const;

type UpdateAccountInput = { readonly [Name in keyof typeof inputNames]?: string | null };

export function accountResolvers({ updateAccount, supportedLocales }: Verbs) {
  const patch = accountPatch(supportedLocales);

  return {
    Query: {
      viewer: async (_parent: unknown, _given: unknown, context: AccountContext) => {
        allowed(context, "account:read", "own-account:read");
        return (await context.loaders.ownAccount()) ?? missing();
      },
    },
    Mutation: {
      updateAccount: (_parent: unknown, { input }: { input: UpdateAccountInput }, context: AccountContext) => {
        const principal = allowed(context, "account:write", "own-account:write");
        return mutationPayload("account", async () => {
          const by = actorOf({ ...context, principal });
          const result = await updateAccount({ principal, changes: changesFrom(parsed(input)), by });
          return result.outcome === "not-found" ? missing() : result.account;
        });
      },
    },
    Account: {
      /** Another account reads as missing. */
      __resolveReference: async ({ id }: { id: string }, _given: unknown, context: AccountContext) => {
        const { accountId } = allowed(context, "account:read", "own-account:read");
        return id === accountId ? context.loaders.ownAccount() : null;
      },
      settings: ({ locale, timezone, productUpdates, settingsUpdatedAt }: Account) => ({
        locale,
        timezone,
        notifications: { productUpdates },
        updatedAt: settingsUpdatedAt,
      }),
    },
  };

  /** The same rules as PATCH: absent and null are two things here too. */
  function parsed(input: UpdateAccountInput) {
    const body = Object.entries(input).map(([name, value]) => [inputNames[name as keyof UpdateAccountInput], value]);
    return parseInput(patch, Object.fromEntries(body), inputNameOf);
  }
}

const inputNameOf = (member: string): string =>
  Object.entries(inputNames).find(([, name]) => name === member)?.[0] ?? "input";

function missing(): never {
  throw new AppError("not_found", "The account does not exist any more.");
}
