import type { Caller } from "@signalbox/auth";
import type { Tx } from "@signalbox/storage";
import { accountChanged, accountContactVerified } from "../accounts/account-events.ts";
import type { ChangedAccount } from "../accounts/change-account.ts";
import type { AccountService } from "../context/account-service.ts";
import { type AccountAction, type Actor, recordInAudit } from "./audit-log.ts";

// The records of a change of an account: its audit entry and its events, in the transaction of the change.

export async function recordAccountChange(
  service: AccountService,
  tx: Tx,
  by: Caller | Actor,
  action: AccountAction,
  changed: ChangedAccount,
): Promise<void> {
  const fields = [...new Set([...changed.accountFields, ...changed.settingsFields])];
  await recordInAudit(service, tx, by, { action, accountId: changed.account.id, fields });
  await service.outbox.append(tx, accountChanged(changed));
}

/** Adds the event of a verified contact address. */
export const recordVerifiedContact = ({ outbox }: AccountService, tx: Tx, changed: ChangedAccount) =>
  outbox.append(tx, [accountContactVerified(changed)]);
