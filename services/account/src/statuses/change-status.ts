import { type AccountState, accountStates, mayTransition, type TransitionActor } from "@signalbox/contracts";
import { hours } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import { announceAccount } from "../access/access-announcements.ts";
import type { Account } from "../accounts/account.ts";
import { accountChanged, accountStatusChanged } from "../accounts/account-events.ts";
import { holderOfAddress } from "../accounts/account-store.ts";
import { loseVerification } from "../accounts/contact.ts";
import { type AccountAction, type Actor, recordInAudit } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { type Notice, queueNotice } from "../notices/notices.ts";

interface StatusChange {
  readonly to: AccountState;
  readonly actor: TransitionActor;
  readonly reason: string | null;
}

/**
 * Returns the account in its next state, by CONTRACT §1; null when this actor may not make the change. Nothing follows
 * a purge that has started.
 */
export function changeStatus(account: Account, { to, actor, reason }: StatusChange, now: Date): Account | null {
  if (!isPossible(account, to, actor)) return null;
  return {
    ...account,
    status: to,
    statusChangedAt: now,
    statusActor: actor,
    statusReason: reason,
    recoveryRequestedAt: null,
    accessEpoch: account.accessEpoch + 1,
    revision: account.revision + 1n,
    updatedAt: now,
  };
}

const isPossible = ({ status, purgeBegunAt, purgedAt }: Account, to: AccountState, actor: TransitionActor): boolean =>
  purgeBegunAt === null && purgedAt === null && mayTransition(status, to, actor);

/** Lists the states into which an administrator may bring the account now. */
export const nextStatuses = (account: Account): AccountState[] =>
  accountStates.filter((to) => isPossible(account, to, "administrator"));

/** No state leads back to `pending`. */
type NextState = Exclude<AccountState, "pending">;

export interface WantedStatus {
  readonly to: NextState;
  readonly reason: string | null;
}

export interface NoTransition {
  readonly outcome: "no-transition";
  readonly from: AccountState;
  readonly to: AccountState;
}

const actions: Readonly<Record<NextState, AccountAction>> = {
  active: "account.activate",
  suspended: "account.suspend",
  disabled: "account.disable",
  deleted: "account.delete",
};

/** The audit actions of an administrator's change of status. */
export const statusActions = Object.values(actions);

// Moves accounts from one state to another, for any actor. Every service learns of it on the state topic and enforces
// it within seconds. Callers pass locked accounts.

export async function moveStatus(
  service: AccountService,
  tx: Tx,
  by: Actor,
  account: Account,
  { to, reason }: WantedStatus,
): Promise<{ outcome: "changed"; account: Account } | NoTransition> {
  const { clock, accountStore, outbox } = service;
  const next = changeStatus(account, { to, actor: by.kind, reason }, clock.now());
  if (!next) return { outcome: "no-transition", from: account.status, to };
  const moved = account.status === "deleted" ? await withAddressIfFree(service, tx, next) : next;
  await accountStore.save(tx, moved);
  await recordInAudit(service, tx, by, { action: actions[to], accountId: account.id, fields: ["status"], reason });
  await outbox.append(tx, [accountStatusChanged(moved, account.status, by.kind)]);
  await announceAccount(service, tx, moved);
  const notice = noticeOf(service, to);
  if (notice) await queueNotice(service, tx, moved, notice);
  return { outcome: "changed", account: moved };
}

/** Restores an account. Its address becomes unverified when another account has verified it meanwhile. */
async function withAddressIfFree({ clock, outbox }: AccountService, tx: Tx, account: Account): Promise<Account> {
  const { contactAddress, contactAddressVerified } = account;
  if (contactAddress === null || !contactAddressVerified) return account;
  if ((await holderOfAddress(tx, contactAddress, account.id)) === null) return account;
  const changed = loseVerification(account, clock.now());
  await outbox.append(tx, accountChanged(changed));
  return changed.account;
}

/** The notice to the owner: what was taken away, and how to get it back. */
function noticeOf({ clock, configuration }: AccountService, to: NextState): Notice | null {
  if (to === "active") return null;
  if (to !== "deleted") return { kind: `account-${to}` };
  return {
    kind: "account-deleted",
    eraseAt: new Date(clock.nowMs() + hours(24 * configuration.get("account.retention-days"))),
  };
}
