import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import type { Tx } from "@signalbox/storage";
import type { AccessLog } from "../access/access-log.ts";
import type { Account } from "../accounts/account.ts";
import { accountChanged, accountContactVerified, accountStatusChanged } from "../accounts/account-events.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor, Audit } from "../audit/audit.ts";
import { changeStatus } from "../statuses/change-status.ts";
import type { EndConfirmation } from "./end-confirmation.ts";
import type { HolderMails } from "./holder-mails.ts";
import { withPendingConfirmed } from "./move-contact.ts";

interface Dependencies {
  readonly accounts: Pick<AccountStore, "save">;
  readonly holderMails: Pick<HolderMails, "tellOfReplacement">;
  readonly endConfirmation: EndConfirmation;
  readonly accessLog: Pick<AccessLog, "announce">;
  readonly outbox: Pick<Outbox, "append">;
  readonly audit: Audit;
  readonly clock: Clock;
}

const system: Actor = { kind: "system", accountId: null, credential: "contact", address: null, requestId: null };

/**
 * Puts the waiting address of a locked account in use, once it is proven; answers the account as it is then. An account
 * that was pending has waited for just this.
 */
export function createAdoptContact(dependencies: Dependencies) {
  const { accounts, holderMails, endConfirmation, outbox, audit, clock } = dependencies;

  return async function adoptContact(tx: Tx, account: Account, by: Actor): Promise<Account> {
    const changed = withPendingConfirmed(account, clock.now());
    const [before, now] = [account.contactAddress, changed.account.contactAddress];
    await audit.record(tx, {
      action: "account.contact_confirm",
      accountId: account.id,
      fields: changed.accountFields,
      by,
    });
    await outbox.append(tx, [accountContactVerified(changed), ...accountChanged(changed)]);
    await endConfirmation(tx, account.id);
    if (before !== null && now !== null && before !== now) {
      await holderMails.tellOfReplacement(tx, changed.account, before, now);
    }
    const active = await activate(tx, changed.account);
    await accounts.save(tx, active);
    return active;
  };

  async function activate(tx: Tx, account: Account): Promise<Account> {
    if (account.status !== "pending") return account;
    const moved = changeStatus(account, { to: "active", actor: "system", reason: null }, clock.now());
    if (!moved) return account;
    const { id, status: state, accessEpoch: epoch } = moved;
    await audit.record(tx, { action: "account.activate", accountId: id, fields: ["status"], by: system });
    await outbox.append(tx, [accountStatusChanged(moved, account.status, "system")]);
    await dependencies.accessLog.announce(tx, { kind: "account", id, accountId: id, state, epoch }, moved.updatedAt);
    return moved;
  }
}

export type AdoptContact = ReturnType<typeof createAdoptContact>;
