import { type Caller, requireState, requireStepUp } from "@signalbox/auth";
import { requireTransaction, type Tx } from "@signalbox/storage";
import { type Account, stateOf } from "../accounts/account.ts";
import { type AccountChanges, changeAccount, touchesContact } from "../accounts/change-account.ts";
import { recordAccountChange } from "../audit/account-changes.ts";
import { requestContactChange } from "../contacts/contact-changes.ts";
import type { AccountService } from "../context/account-service.ts";

/** Changes the account or its settings. A change to the same values leaves no trace. */
export async function updateAccount(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
  changes: AccountChanges,
) {
  // The edge judged the state as of moments ago; the locked row has the present one.
  const { clock, accountStore } = service;
  requireState(stateOf(account), "own-account:write");
  const changed = changeAccount(account, changes, clock.now());
  if (changed.accountFields.length + changed.settingsFields.length === 0) return account;
  if (touchesContact(changed)) {
    requireStepUp(caller, clock);
    // The limit of confirmation mails counts addresses, so it needs the transaction.
    requireTransaction(tx);
  }
  await accountStore.save(tx, changed.account);
  const refused = touchesContact(changed) ? await requestContactChange(service, tx, account, changed.account) : null;
  if (refused) return refused;
  await recordAccountChange(service, tx, caller, "account.update", changed);
  return changed.account;
}
