import type { Principal } from "@signalbox/auth";
import { createLoader, type Load, type SubgraphContext } from "@signalbox/graphql";
import type { Account } from "../accounts/account.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { ApiKey } from "../credentials/api-key.ts";
import type { CredentialStore } from "../credentials/credential-store.ts";

/** The batched look-ups of one request. Fields check access before they load. */
export interface AccountLoaders {
  readonly account: Load<Account>;
  /** A key of the caller's account. */
  readonly ownApiKey: Load<ApiKey>;
}

export type AccountContext = SubgraphContext<AccountLoaders>;

interface LoaderDependencies {
  readonly accounts: Pick<Accounts, "findMany">;
  readonly keys: Pick<CredentialStore<ApiKey>, "findMany">;
}

/** Creates the loaders of one principal's request. */
export function createLoaders({ accounts, keys }: LoaderDependencies, principal: Principal | null): AccountLoaders {
  const ownKeys = async (ids: readonly string[]) => (principal ? keys.findMany(principal.accountId, ids) : []);
  return {
    account: createLoader(accounts.findMany, ({ id }) => id),
    ownApiKey: createLoader(ownKeys, ({ id }) => id),
  };
}
