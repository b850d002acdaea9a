import { type Caller, requireScopes } from "@signalbox/auth";
import { AppError } from "@signalbox/core";
import { field, mutation, type SubgraphContext, toWire } from "@signalbox/graphql";
import type { Tx } from "@signalbox/storage";
import type { z } from "zod";
import type { Account } from "../accounts/account.ts";
import { type AccountBody, changesFrom, createAccountBodies } from "../accounts/account-body.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { AdministratorReads } from "../audit/administrator-reads.ts";
import type { AccountContext, AccountLoaders } from "./loaders.ts";

interface AccountResolverDependencies {
  readonly accounts: Pick<Accounts, "find" | "lock" | "update">;
  readonly administratorReads: AdministratorReads;
  readonly supportedLocales: () => readonly string[];
}

const read = { scopes: ["account:read"], access: "own-account:read" } as const;
/** Any credential may ask for its own account; the visible fields depend on its scopes. */
const anyCredential = { scopes: [], access: "own-account:read" } as const;
const write = { scopes: ["account:write"], access: "own-account:write" } as const;

const accountGone = "The account no longer exists.";

/** Changes the caller's account under its lock. */
export function writeOwnAccount<Result>(
  { caller, write }: SubgraphContext<unknown>,
  accounts: Pick<Accounts, "lock">,
  change: (tx: Tx, account: Account) => Promise<Result>,
): Promise<Result> {
  return write({ find: (tx) => accounts.lock(tx, caller.accountId), change, missing: accountGone });
}

/** The caller's account with its settings. */
export function accountResolvers({ accounts, administratorReads, supportedLocales }: AccountResolverDependencies) {
  const bodies = createAccountBodies({ accounts, supportedLocales });
  return {
    Query: {
      viewer: field<AccountLoaders, unknown, unknown>(anyCredential, async (_parent, _args, { caller, loaders }) => {
        const account = await loaders.account(caller.accountId);
        if (account) return readableBy(caller, account);
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
        { ...anyCredential, ofOthers: { scopes: ["account:admin"], access: "read" } },
        async ({ id }, _args, { caller, loaders }) => {
          const account = await loaders.account(id);
          if (account) await administratorReads.ofAccount(caller, account.id, "account.read");
          return account && readableBy(caller, account);
        },
      ),
      ...Object.fromEntries(scalars.map((name) => [name, readScalar(name)])),
      settings: field<AccountLoaders, Account, unknown>({ ...read, ownOnly: true }, (account) => account),
    },
    /** The parent is the account. */
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

const scalars = [
  ...(["displayName", "contactAddress", "contactAddressVerified", "pendingContactAddress"] as const),
  ...(["locale", "timezone", "status", "statusChangedAt", "statusReason"] as const),
  ...(["createdAt", "updatedAt"] as const),
];

/**
 * Returns the account, or only its id for a caller who may not read it: fields of other services have their own scopes.
 */
function readableBy({ accountId, scopes }: Caller, account: Account): Account | Pick<Account, "id"> {
  return account.id !== accountId || scopes.has("account:read") ? account : { id: account.id };
}

/** A fully loaded account was found by a caller who may see it: its reader, or the administrator who changed it. */
function readScalar(name: (typeof scalars)[number]) {
  return (account: Partial<Account>, _args: unknown, { caller }: AccountContext) => {
    if (!(name in account)) requireScopes(caller, read.scopes);
    return account[name];
  };
}

/** Validates an input by the rules of the body; values that fail are compared with those of the caller's account. */
function inputOf<Schema extends z.ZodType>({ json, forCaller }: { json: Schema; forCaller: ForCaller<Schema> }) {
  return async ({ caller }: SubgraphContext<unknown>, input: object): Promise<Schema> =>
    json.safeParse(toWire(input)).success ? json : forCaller(caller);
}

type ForCaller<Schema> = (caller: { readonly accountId: string }) => Promise<Schema>;
