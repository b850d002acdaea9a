import { connectionField, mutation, type PageLimits } from "@signalbox/graphql";
import { z } from "zod";
import type { Account } from "../accounts/account.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { ListedSignIn } from "../sign-ins/sign-in.ts";
import type { SignInList } from "../sign-ins/sign-in-list.ts";
import type { SignIns } from "../sign-ins/sign-ins.ts";
import { writeOwnAccount } from "./account-resolvers.ts";
import type { AccountLoaders } from "./loaders.ts";

interface Dependencies {
  readonly accounts: Pick<Accounts, "lock">;
  readonly signIns: Pick<SignIns, "signOutEverywhere">;
  readonly signInList: SignInList;
  readonly pageLimits: PageLimits;
}

const security = { scopes: ["account:security"], access: "own-account:write" } as const;
const nothing = z.strictObject({});
const OneSignIn = z.strictObject({ id: z.string() });

/** The sign-ins of the caller's account: the operations and rules of REST. */
export function signInResolvers({ accounts, signIns, signInList, pageLimits: limits }: Dependencies) {
  return {
    Account: {
      signIns: connectionField<AccountLoaders, Pick<Account, "id">, object, ListedSignIn>(
        {
          scopes: ["account:read"],
          access: "own-account:read",
          ofOthers: { scopes: ["account:admin"], access: "read" },
        },
        {
          limits,
          read: (range, { id: accountId }, { caller: { credential } }) =>
            signInList.list({ accountId, credential }, range),
        },
      ),
    },
    Mutation: {
      endSignIn: mutation<AccountLoaders, z.output<typeof OneSignIn>, Account>(
        { ...security, stepUp: true, audit: "sign_in.end", input: OneSignIn, payload: "account" },
        ({ id }, { caller, write }) =>
          write({
            find: (tx) => signInList.lock(tx, caller.accountId, id),
            change: (tx, found) => signInList.end(tx, caller, found),
            missing: "There is no such sign-in.",
          }),
      ),
      signOutEverywhere: mutation<AccountLoaders, object, Account>(
        { ...security, audit: "account.sign_out", input: nothing, payload: "account" },
        (_input, context) =>
          writeOwnAccount(context, accounts, (tx, account) => signIns.signOutEverywhere(tx, context.caller, account)),
      ),
    },
  };
}
