import { connectionField, field, filterFrom, mutation, type PageLimits, refusalError } from "@signalbox/graphql";
import { z } from "zod";
import type { Account } from "../accounts/account.ts";
import type { Accounts } from "../accounts/accounts.ts";
import { type AccountRoles, RolesInput, refusedRoles, roleActions } from "../administration/account-roles.ts";
import { type AccountSearchStore, accountFilter } from "../administration/account-search-store.ts";
import type { AdministratorReads } from "../audit/administrator-reads.ts";
import { StatusByAdministrator } from "../statuses/status-body.ts";
import { refusedTransition, type Statuses, statusActions } from "../statuses/statuses.ts";
import type { AccountLoaders } from "./loaders.ts";

interface AdministrationResolverDependencies {
  readonly accounts: Pick<Accounts, "lock">;
  readonly accountSearch: AccountSearchStore;
  readonly statuses: Pick<Statuses, "changeByAdministrator">;
  readonly accountRoles: AccountRoles;
  readonly administratorReads: AdministratorReads;
  readonly pageLimits: PageLimits;
}

const access = { scopes: ["account:admin"] } as const;
const Filter = z.strictObject({ ...accountFilter, recovery_requested: z.boolean().optional() });
const StatusInput = StatusByAdministrator.extend({ account_id: z.string() });

/** All accounts, for administrators. */
export function administrationResolvers(dependencies: AdministrationResolverDependencies) {
  const { accounts, accountSearch, statuses, accountRoles, administratorReads, pageLimits: limits } = dependencies;

  return {
    Query: {
      account: field<AccountLoaders, unknown, { id: string }>(
        { ...access, audit: "account.read" },
        async (_parent, { id }, { caller, loaders }) => {
          const account = await loaders.account(id);
          if (account) await administratorReads.ofAccount(caller, account.id, "account.read");
          return account;
        },
      ),
      accounts: connectionField<AccountLoaders, unknown, Record<string, unknown>, Account>(
        { ...access, audit: "account.list" },
        {
          limits,
          async read(range, _parent, { caller }, args) {
            const filter = filterFrom(Filter, args);
            await administratorReads.ofAll(caller, "account.list");
            return accountSearch.list(filter, range);
          },
        },
      ),
    },
    Mutation: {
      setAccountStatus: mutation(
        { ...access, stepUpFor: "a deletion", audit: statusActions, input: StatusInput, payload: "account" },
        async ({ account_id, status: to, reason }, { caller, write }) => {
          const result = await write({
            find: (tx) => accounts.lock(tx, account_id),
            change: (tx, account) => statuses.changeByAdministrator(tx, caller, account, { to, reason }),
            missing: "There is no such account.",
          });
          if (result.outcome === "changed") return result.account;
          throw refusalError(refusedTransition(result));
        },
      ),
      setAccountRoles: mutation(
        { ...access, stepUpFor: "other roles", audit: roleActions, input: RolesInput, payload: "account" },
        async ({ account_id, roles }, { caller, write }) => {
          const result = await write({
            find: (tx) => accounts.lock(tx, account_id),
            change: (tx, account) => accountRoles.set(tx, caller, account, roles),
            missing: "There is no such account.",
          });
          if (result.outcome === "changed") return result.account;
          throw refusalError(refusedRoles(result));
        },
      ),
    },
    Account: {
      administration: field<AccountLoaders, Pick<Account, "id">, unknown>(
        access,
        async ({ id }, _args, { loaders }) => {
          const account = await loaders.account(id);
          if (!account) return null;
          const { roles, statusChangedAt, statusActor, statusReason, recoveryRequestedAt, purgedAt } = account;
          return { roles, statusChangedAt, statusChangedBy: statusActor, statusReason, recoveryRequestedAt, purgedAt };
        },
      ),
    },
  };
}
