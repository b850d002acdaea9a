import { type AccountState, accountStates, mayTransition, type TransitionActor } from "@signalbox/contracts";
import { type Clock, hours } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import type { Tx } from "@signalbox/storage";
import type { AccessAnnouncements } from "../access/access-announcements.ts";
import type { Account } from "../accounts/account.ts";
import { accountChanged, accountStatusChanged } from "../accounts/account-events.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import { loseVerification } from "../accounts/contact.ts";
import type { AccountAction, Actor, Audit } from "../audit/audit-log.ts";
import type { VerifiedAddresses } from "../contacts/verified-addresses.ts";
import type { Notice, Notices } from "../notices/notices.ts";

export interface StatusChange {
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

/** A wanted state with its reason. */
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

interface TransitionDependencies {
  readonly accountStore: Pick<AccountStore, "save">;
  readonly verifiedAddresses: Pick<VerifiedAddresses, "holderOf">;
  readonly access: Pick<AccessAnnouncements, "announceAccount">;
  readonly outbox: Pick<Outbox, "append">;
  readonly audit: Pick<Audit, "record">;
  readonly notices: Pick<Notices, "queue">;
  readonly clock: Clock;
  /** Days within which a deletion can be undone. */
  readonly retentionDays: () => number;
}

export type StatusTransitions = ReturnType<typeof createStatusTransitions>;

/**
 * Moves accounts from one state to another, for any actor. Every service learns of it on the state topic and enforces
 * it within seconds. Callers pass locked accounts.
 */
export function createStatusTransitions(dependencies: TransitionDependencies) {
  const { accountStore, verifiedAddresses, access, outbox, audit, notices, clock, retentionDays } = dependencies;

  return {
    async move(
      tx: Tx,
      by: Actor,
      account: Account,
      { to, reason }: WantedStatus,
    ): Promise<{ outcome: "changed"; account: Account } | NoTransition> {
      const next = changeStatus(account, { to, actor: by.kind, reason }, clock.now());
      if (!next) return { outcome: "no-transition", from: account.status, to };
      const moved = account.status === "deleted" ? await withAddressIfFree(tx, next) : next;
      await accountStore.save(tx, moved);
      await audit.record(tx, by, { action: actions[to], accountId: account.id, fields: ["status"], reason });
      await outbox.append(tx, [accountStatusChanged(moved, account.status, by.kind)]);
      await access.announceAccount(tx, moved);
      const notice = noticeOf(to);
      if (notice) await notices.queue(tx, moved, notice);
      return { outcome: "changed", account: moved };
    },
  };

  /** Restores an account. Its address becomes unverified when another account has verified it meanwhile. */
  async function withAddressIfFree(tx: Tx, account: Account): Promise<Account> {
    const { contactAddress, contactAddressVerified } = account;
    if (contactAddress === null || !contactAddressVerified) return account;
    if ((await verifiedAddresses.holderOf(tx, contactAddress, account.id)) === null) return account;
    const changed = loseVerification(account, clock.now());
    await outbox.append(tx, accountChanged(changed));
    return changed.account;
  }

  /** The notice to the owner: what was taken away, and how to get it back. */
  function noticeOf(to: NextState): Notice | null {
    if (to === "active") return null;
    if (to !== "deleted") return { kind: `account-${to}` };
    return { kind: "account-deleted", eraseAt: new Date(clock.nowMs() + hours(24 * retentionDays())) };
  }
}
