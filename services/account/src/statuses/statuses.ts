import { type Caller, requireStepUp } from "@signalbox/auth";
import type { AccountState } from "@signalbox/contracts";
import { hours } from "@signalbox/core";
import type { Refusal } from "@signalbox/http";
import type { Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { accountChanged, accountStatusChanged } from "../accounts/account-events.ts";
import { type LastAdministrator, refusedLastAdministrator } from "../administration/last-administrator.ts";
import { type AccountAction, type Actor, actorOf } from "../audit/audit.ts";
import { loseVerification } from "../contacts/contact-transitions.ts";
import type { Notice, Notices } from "../mail/notices.ts";
import type { Shared } from "../shared.ts";
import { changeStatus } from "./change-status.ts";

interface StatusDependencies
  extends Pick<Shared, "accounts" | "verifiedAddresses" | "access" | "outbox" | "audit" | "clock"> {
  readonly lastAdministrator: LastAdministrator;
  readonly notices: Pick<Notices, "queue">;
  /** Days within which a deletion can be undone. */
  readonly retentionDays: () => number;
}

/** No state leads back to `pending`. */
type NextState = Exclude<AccountState, "pending">;

interface Change {
  readonly to: NextState;
  readonly reason: string | null;
}

export type StatusOutcome = { outcome: "changed"; account: Account } | RefusedStatus;

type RefusedStatus = NoTransition | { readonly outcome: "last-administrator" };

interface NoTransition {
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

export type Statuses = ReturnType<typeof createStatuses>;

/**
 * Moves accounts from one state to another. Every service learns of it on the state topic and enforces it within
 * seconds. Callers pass locked accounts.
 */
export function createStatuses(dependencies: StatusDependencies) {
  const { accounts, access, outbox, audit, notices, clock, retentionDays, lastAdministrator } = dependencies;

  return {
    change,

    /** Makes a change that the owner requests. */
    async changeByOwner(tx: Tx, caller: Caller, account: Account, wanted: Change): Promise<StatusOutcome> {
      if (await lastAdministrator.isLast(tx, caller, account)) return { outcome: "last-administrator" };
      return change(tx, actorOf(caller), account, wanted);
    },

    /** Makes a change that an administrator requests. A deletion needs their recent sign-in. */
    async changeByAdministrator(tx: Tx, caller: Caller, account: Account, wanted: Change): Promise<StatusOutcome> {
      if (wanted.to === "deleted") requireStepUp(caller, clock);
      const ceases = wanted.to !== "active" && (await lastAdministrator.isLast(tx, caller, account));
      if (ceases) return { outcome: "last-administrator" };
      return change(tx, actorOf(caller, "administrator"), account, wanted);
    },

    /**
     * Records the owner's request for recovery, visible to administrators, and returns its time. Null unless the
     * account is disabled.
     */
    async requestRecovery(tx: Tx, caller: Caller, account: Account): Promise<Date | null> {
      if (account.status !== "disabled") return null;
      if (account.recoveryRequestedAt !== null) return account.recoveryRequestedAt;
      const recoveryRequestedAt = clock.now();
      await accounts.save(tx, { ...account, recoveryRequestedAt });
      await audit.record(tx, caller, { action: "account.request_recovery" });
      return recoveryRequestedAt;
    },
  };

  async function change(tx: Tx, by: Actor, account: Account, { to, reason }: Change): Promise<StatusOutcome> {
    const next = changeStatus(account, { to, actor: by.kind, reason }, clock.now());
    if (!next) return { outcome: "no-transition", from: account.status, to };
    const moved = account.status === "deleted" ? await withAddressIfFree(tx, next, dependencies) : next;
    await accounts.save(tx, moved);
    await audit.record(tx, by, { action: actions[to], accountId: account.id, fields: ["status"], reason });
    await outbox.append(tx, [accountStatusChanged(moved, account.status, by.kind)]);
    await access.announceAccount(tx, moved);
    const notice = noticeOf(to);
    if (notice) await notices.queue(tx, moved, notice);
    return { outcome: "changed", account: moved };
  }

  /** The notice to the owner: what was taken away, and how to get it back. */
  function noticeOf(to: NextState): Notice | null {
    if (to === "active") return null;
    if (to !== "deleted") return { kind: `account-${to}` };
    return { kind: "account-deleted", eraseAt: new Date(clock.nowMs() + hours(24 * retentionDays())) };
  }
}

/** Restores an account. Its address becomes unverified when another account has verified it meanwhile. */
async function withAddressIfFree(
  tx: Tx,
  account: Account,
  { verifiedAddresses, outbox, clock }: StatusDependencies,
): Promise<Account> {
  const { contactAddress, contactAddressVerified } = account;
  if (contactAddress === null || !contactAddressVerified) return account;
  if ((await verifiedAddresses.holderOf(tx, contactAddress, account.id)) === null) return account;
  const changed = loseVerification(account, clock.now());
  await outbox.append(tx, accountChanged(changed));
  return changed.account;
}

/** Maps a refused change of status to its answer. */
export function refusedTransition(result: RefusedStatus): Refusal {
  if (result.outcome === "last-administrator") return refusedLastAdministrator("status");
  const { from, to } = result;
  const message = `An account that is ${from} cannot become ${to}.`;
  return { code: "conflict", message, details: [{ field: "status", code: "transition_not_allowed", message }] };
}
