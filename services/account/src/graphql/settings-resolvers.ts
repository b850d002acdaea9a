import { AppError } from "@signalbox/core";
import { mutationPayload } from "@signalbox/graphql";
import type { Account } from "../accounts/account.ts";
import { callersBody } from "../accounts/callers-body.ts";
import { actorOf } from "../audit/actor.ts";
import { settingsPatch } from "../settings/settings-body.ts";
import { changesFrom } from "../settings/settings-routes.ts";
import type { Verbs } from "../verbs.ts";
import { type AccountContext, allowed, missing } from "./account-resolvers.ts";
import { parseOwnInput } from "./parse-input.ts";

export function settingsResolvers({ accounts, updateAccount, supportedLocales }: Verbs) {
  const patch = callersBody(accounts, (present) => settingsPatch(supportedLocales, present));

  return {
    Mutation: {
      updateAccountSettings: (_parent: unknown, { input }: { input: object }, context: AccountContext) => {
        const principal = allowed(context, "account:write", "own-account:write");
        return mutationPayload("settings", async () => {
          const by = actorOf({ ...context, principal });
          const changes = changesFrom(await parseOwnInput(patch, principal, input));
          const result = await updateAccount({ principal, changes, by });
          return result.outcome === "not-found" ? missing() : settingsOf(result.account);
        });
      },
    },
    Account: {
      settings: (account: Account, _given: unknown, context: AccountContext) => {
        const { accountId } = allowed(context, "account:read", "own-account:read");
        if (account.id === accountId) return settingsOf(account);
        throw new AppError("forbidden", "Settings are their owner's alone.", {
          details: [{ field: "settings", code: "not_owner", message: "Settings are their owner's alone." }],
        });
      },
    },
  };
}

const settingsOf = ({ locale, timezone, productUpdates, settingsUpdatedAt }: Account) => ({
  locale,
  timezone,
  notifications: { productUpdates },
  updatedAt: settingsUpdatedAt,
});
