import { type AccountState, mayTransition, type TransitionActor } from "@signalbox/contracts";
import type { Account } from "../accounts/account.ts";

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
  if (account.purgeBegunAt !== null || account.purgedAt !== null) return null;
  if (!mayTransition(account.status, to, actor)) return null;
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
