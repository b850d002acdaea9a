import { mutation } from "@signalbox/graphql";
import { z } from "zod";
import type { Account } from "../accounts/account.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { SignIns } from "../sign-ins/sign-ins.ts";
import { accountGone } from "./account-resolvers.ts";
import type { AccountLoaders } from "./loaders.ts";

interface SignInMutationDependencies {
  readonly accounts: Pick<Accounts, "lock">;
  readonly signIns: Pick<SignIns, "signOutEverywhere">;
}

/** The sign-ins of the account, as its owner ends them. */
export function signInMutations({ accounts, signIns }: SignInMutationDependencies) {
  return {
    Mutation: {
      signOutEverywhere: mutation<AccountLoaders, object, Account>(
        { scopes: ["account:security"], access: "own-account:write", input: z.strictObject({}), payload: "account" },
        (_input, { caller, write }) =>
          write({
            find: (tx) => accounts.lock(tx, caller.accountId),
            change: (tx, account) => signIns.signOutEverywhere(tx, caller, account),
            missing: accountGone,
          }),
      ),
    },
  };
}
