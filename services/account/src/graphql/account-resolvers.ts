import { AppError } from "@signalbox/core";
import { field, mutation, type SubgraphContext, toWire } from "@signalbox/graphql";
import type { Tx } from "@signalbox/storage";
import type { z } from "zod";
import type { Account } from "../accounts/account.ts";
import { type AccountBody, changesFrom, createAccountBodies } from "../accounts/account-body.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { AccountContext, AccountLoaders } from "./loaders.ts";

interface AccountResolverDependencies {
  readonly accounts: Pick<Accounts, "find" | "lock" | "update">;
  readonly supportedLocales: () => readonly string[];
}

const read = { scopes: ["account:read"], access: "own-account:read" } as const;
const write = { scopes: ["account:write"], access: "own-account:write" } as const;

const accountGone = "The account does not exist any more.";

/** Changes the caller's account under its lock. */
export function writeOwnAccount<Result>(
  { caller, write }: SubgraphContext<unknown>,
  accounts: Pick<Accounts, "lock">,
  change: (tx: Tx, account: Account) => Promise<Result>,
): Promise<Result> {
  return write({ find: (tx) => accounts.lock(tx, caller.accountId), change, missing: accountGone });
}

/** The account of the caller with its settings. */
export function accountResolvers({ accounts, supportedLocales }: AccountResolverDependencies) {
  const bodies = createAccountBodies({ accounts, supportedLocales });
  return {
    Query: {
      viewer: field<AccountLoaders, unknown, unknown>(read, async (_parent, _args, { caller, loaders }) => {
        const account = await loaders.account(caller.accountId);
        if (account) return account;
        throw new AppError("not_found", accountGone);
      }),
    },
    Mutation: {
      updateAccount: mutation<AccountLoaders, AccountBody, Account>(
        {
          ...write,
          stepUpFor: "another contact address or none",
          audit: "account.update",
          input: inputOf(bodies.patch),
          payload: "account",
        },
        update,
      ),
      updateAccountSettings: mutation<AccountLoaders, AccountBody, Account>(
        { ...write, audit: "account.update", input: inputOf(bodies.settingsPatch), payload: "settings" },
        update,
      ),
    },
    Account: {
      /** Another account reads as missing, unless the caller is an administrator. */
      __resolveReference: field<AccountLoaders, Pick<Account, "id">, unknown>(
        { ...read, ofOthers: { scopes: ["account:admin"], access: "read" } },
        ({ id }, _args, { loaders }) => loaders.account(id),
      ),
      settings: field<AccountLoaders, Account, unknown>(read, (account, _args, { caller }) => {
        if (account.id === caller.accountId) return account;
        const message = "Only the owner can see the settings of an account.";
        throw new AppError("forbidden", message, { details: [{ field: "settings", code: "not_owner", message }] });
      }),
    },
    /** Its parent is the account. */
    AccountSettings: {
      notifications: ({ productUpdates }: Account) => ({ productUpdates }),
      updatedAt: ({ settingsUpdatedAt }: Account) => settingsUpdatedAt,
    },
  };

  /** Changes the caller's account, as the routes do. */
  function update(input: AccountBody, { caller, write }: AccountContext): Promise<Account> {
    return write({
      read: () => accounts.find(caller.accountId),
      find: (tx) => accounts.lock(tx, caller.accountId),
      change: (tx, account) => accounts.update(tx, caller, account, changesFrom(input)),
      missing: accountGone,
    });
  }
}

/** The rules of an input are those of the body; one that fails is judged by what the account of its caller has. */
function inputOf<Schema extends z.ZodType>({ json, forCaller }: { json: Schema; forCaller: ForCaller<Schema> }) {
  return async ({ caller }: SubgraphContext<unknown>, input: object): Promise<Schema> =>
    json.safeParse(toWire(input)).success ? json : forCaller(caller);
}

type ForCaller<Schema> = (caller: { readonly accountId: string }) => Promise<Schema>;
