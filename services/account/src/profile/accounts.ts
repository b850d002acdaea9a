import { type Caller, requireState, requireStepUp } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import { requireTransaction, type Tx } from "@signalbox/storage";
import { type Account, stateOf } from "../accounts/account.ts";
import type { AccountRecords } from "../accounts/account-events.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import { type AccountChanges, changeAccount, touchesContact } from "../accounts/change-account.ts";
import type { RefusedContact } from "../accounts/contact.ts";

interface AccountDependencies {
  readonly accountStore: Pick<AccountStore, "find" | "findMany" | "lock" | "save">;
  readonly contactChanges: { request(tx: Tx, before: Account, after: Account): Promise<RefusedContact | null> };
  readonly accountRecords: Pick<AccountRecords, "changed">;
  readonly clock: Clock;
}

export type Accounts = ReturnType<typeof createAccounts>;

/** Accounts with their settings, read and updated by their owners. */
export function createAccounts({ accountStore, contactChanges, accountRecords, clock }: AccountDependencies) {
  const { find, findMany, lock } = accountStore;
  return {
    find,
    findMany,
    lock,

    /** Changes the account or its settings. A change to the same values leaves no trace. */
    async update(tx: Tx, caller: Caller, account: Account, changes: AccountChanges) {
      // The edge judged the state as of moments ago; the locked row has the present one.
      requireState(stateOf(account), "own-account:write");
      const changed = changeAccount(account, changes, clock.now());
      if (changed.accountFields.length + changed.settingsFields.length === 0) return account;
      if (touchesContact(changed)) {
        requireStepUp(caller, clock);
        // The limit of confirmation mails counts addresses, so it needs the transaction.
        requireTransaction(tx);
      }
      await accountStore.save(tx, changed.account);
      const refused = touchesContact(changed) ? await contactChanges.request(tx, account, changed.account) : null;
      if (refused) return refused;
      await accountRecords.changed(tx, caller, "account.update", changed);
      return changed.account;
    },
  };
}
